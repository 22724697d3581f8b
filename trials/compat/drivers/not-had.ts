import type { Driver } from '../driver.js'

/**
 * Returns a driver for a tool that cannot be installed for the trial, so that the page names it with the
 * reason.
 */
const notHad = (tool: string, title: string, reason: string): Driver => ({
  tool,
  version: () => Promise.reject(new Error(reason)),
  tasks: [{ title, run: () => Promise.reject(new Error(reason)) }],
})

const nowhere = 'neither npm nor Debian 12 has it'
const signIn = "people sign in by GitLab's OAuth, which is not here"
const mergeRequests = 'the first call is about a merge request, and there are none'

export const notHadDrivers: Driver[] = [
  notHad('Terraform provider gitlab', 'applies twice', nowhere),
  notHad('Jenkins, with gitlab-plugin', 'builds what was pushed, and posts the status', nowhere),
  notHad('Flux bootstrap', 'makes a project and its first commit', nowhere),
  notHad('Woodpecker, Drone', 'sign in and build', signIn),
  notHad('Codecov, Sentry', 'sign in and find commits', signIn),
  notHad('Atlantis, reviewdog, CML', 'comment on a merge request', mergeRequests),
  notHad('Dependabot', 'opens a merge request for an update', mergeRequests),
]
