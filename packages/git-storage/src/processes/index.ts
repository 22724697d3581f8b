export { argumentsOf, isTooHard, runGitOk, spawnGit } from './git-process.js'
export { runInStream } from './stream-output.js'
