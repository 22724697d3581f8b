import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Messages beyond this end the command; maintenance commands print next to nothing. */
const outputBytesMax = 1024 * 1024

/** What a repository could name as programs to run: hooks, and commands of its configuration. */
const withoutPrograms = ['core.hooksPath=/dev/null', 'core.alternateRefsCommand=true', 'core.fsmonitor=false']

/**
 * What packing may hold in memory, some 500 MB with what it maps of packs: otherwise every file below 512 MB is compared
 * with its neighbours, in each thread. git-api does not compare files of more than 64 MB either.
 */
const withinMemory = [
  'core.bigFileThreshold=64m',
  'core.deltaBaseCacheLimit=64m',
  'core.packedGitLimit=256m',
  'core.packedGitWindowSize=32m',
  'pack.threads=1',
  'pack.windowMemory=128m',
  'pack.deltaCacheSize=64m',
]

const settings = ['safe.directory=*', ...withoutPrograms, ...withinMemory].flatMap((setting) => [
  '-c',
  setting,
])

/**
 * Runs git on a bare repository, with nothing of this machine's configuration, and no program of the repository's.
 *
 * @param signal ends git the soft way, so that it removes its lock files
 * @throws Error with what git said
 */
export async function runGit(repository: string, args: string[], signal: AbortSignal): Promise<void> {
  const options = { cwd: '/', env: environment(), signal, maxBuffer: outputBytesMax }
  await run('git', [`--git-dir=${repository}`, ...settings, ...args], options)
}

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  // A pushed replacement may lead in a circle, and every command would end with an error.
  GIT_NO_REPLACE_OBJECTS: '1',
})
