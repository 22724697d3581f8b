import { findPython, findRuby } from './interpreters.js'

/** Clients of GitLab's API, callers of git-api in its tests. */
const gitlab = (language: string) => ({
  title: `GitLab's client for ${language}`,
  tests: `tests with GitLab's client for ${language}`,
  module: 'gitlab',
})

/** A Python that has python-gitlab, or null. */
export const findGitlabPython = (toolsDir: string, log: (line: string) => void) =>
  findPython({ ...gitlab('Python'), package: 'python3-gitlab' }, toolsDir, log)

/** A Ruby that has the gem gitlab, or null. */
export const findGitlabRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby({ ...gitlab('Ruby'), package: 'ruby-gitlab' }, toolsDir, log)
