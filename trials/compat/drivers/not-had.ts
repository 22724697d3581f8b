import type { Driver } from '../driver.js'

/** A tool that cannot be installed where the trial runs: the page says so instead of nothing. */
const notHad = (tool: string, title: string, reason: string): Driver => ({
  tool,
  version: () => Promise.reject(new Error(reason)),
  tasks: [{ title, run: () => Promise.reject(new Error(reason)) }],
})

const nowhere = 'neither npm nor Debian 12 has it'

export const notHadDrivers: Driver[] = [
  notHad('glab', 'lists and makes releases, shows how CI went', nowhere),
  notHad('Terraform provider gitlab', 'applies twice', nowhere),
  notHad('Jenkins, with gitlab-plugin', 'builds what was pushed, and posts the status', nowhere),
  notHad('Woodpecker', 'signs in and builds', nowhere),
]
