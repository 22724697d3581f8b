import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy, multiarchFolders } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

/** A library of Debian for an interpreter, which only tests against real clients and peers need. */
export interface DebianLibrary {
  /** End of the line `fetching … with apt`. */
  title: string
  /** Debian package of the library. */
  package: string
  /** End of the line `SKIPPED: …`. */
  tests: string
  /** Name by which the interpreter loads the library. */
  module: string
}

type Log = (line: string) => void

/** Finds a Python with the library as {@link findRuby} does. */
const findPython = (library: DebianLibrary, toolsDir: string, log: Log) =>
  findInterpreter(library, toolsDir, log, {
    program: 'python3',
    binaries: ['usr/bin/python3.11', 'usr/bin/python3.12', 'usr/bin/python3.13'],
    folders: () => ({ PYTHONPATH: ['usr/lib/python3/dist-packages'] }),
    probe: ['-c', `import ${library.module}`],
  })

/**
 * Finds a Ruby with the library: the one on PATH, otherwise the copy below `toolsDir`, otherwise one that apt
 * fetches there without root. Null, with the reason reported, when there is none.
 */
const findRuby = (library: DebianLibrary, toolsDir: string, log: Log) =>
  findInterpreter(library, toolsDir, log, {
    program: 'ruby',
    binaries: rubyBinaries,
    folders: rubyFolders,
    probe: ['-e', `require "${library.module}"`],
  })

interface Interpreter extends Pick<AptTool, 'binaries' | 'folders'> {
  /** Name of the interpreter on PATH. */
  program: string
  /** Arguments with which the interpreter succeeds if it has the library. */
  probe: string[]
}

async function findInterpreter(
  { title, package: name, tests }: DebianLibrary,
  toolsDir: string,
  log: Log,
  { program, probe, binaries, folders }: Interpreter,
): Promise<string | null> {
  const tool: AptTool = { name, packages: [name], binaries, folders }
  const works = async (path: string) => (await execa(path, probe, { reject: false })).exitCode === 0
  for (const present of [findOnPath(program), findAptCopy(tool, toolsDir)]) {
    if (present && (await works(present))) return present
  }
  log(`fetching ${title} with apt for later starts`)
  try {
    const launcher = await fetchAptCopy(tool, toolsDir)
    if (!(await works(launcher))) throw new Error('the copy does not run')
    return launcher
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    log(`SKIPPED: ${tests}, because there is none (${reason}).`)
    log(`         To run them, type "sudo apt-get install -y ${name}".`)
    return null
  }
}

/** Paths of Ruby in Debian's releases, relative to the root folder. */
const rubyBinaries = ['usr/bin/ruby3.1', 'usr/bin/ruby3.3', 'usr/bin/ruby3.2', 'usr/bin/ruby3.4']

/** Returns variables by which a Ruby finds the libraries and gems of Debian packages below a root folder. */
const rubyFolders = (root: string) => ({ RUBYLIB: libraryFolders(root), GEM_PATH: gemFolders(root) })

/** Returns the folders of Ruby's libraries in Debian: those of all architectures, and those of this one. */
function libraryFolders(root: string): string[] {
  const bases = ['usr/lib/ruby', ...multiarchFolders(root, 'usr/lib').map((folder) => `${folder}/ruby`)]
  return bases
    .flatMap((base) => [
      `${base}/vendor_ruby`,
      ...versions(root, `${base}/vendor_ruby`),
      ...versions(root, base),
    ])
    .filter((folder) => existsSync(join(root, folder)))
}

/** Returns the folders of gems, without and with native code. */
const gemFolders = (root: string): string[] => [
  'usr/share/rubygems-integration/all',
  ...multiarchFolders(root, 'usr/lib').flatMap((folder) => versions(root, `${folder}/rubygems-integration`)),
]

const versions = (root: string, folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
        .map((name) => `${folder}/${name}`)
    : []

/** Finds a Ruby with Sidekiq, whose queues the job-queue metrics read in tests; or null. */
export const findSidekiqRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby(
    {
      title: 'Sidekiq',
      package: 'ruby-sidekiq',
      tests: 'tests against a real Sidekiq',
      module: 'sidekiq',
    },
    toolsDir,
    log,
  )

/** Returns a client of GitLab's API that calls git-api in its tests. */
const gitlab = (language: string) => ({
  title: `GitLab's client for ${language}`,
  tests: `tests with GitLab's client for ${language}`,
  module: 'gitlab',
})

/** Finds a Python with python-gitlab, or null. */
export const findGitlabPython = (toolsDir: string, log: (line: string) => void) =>
  findPython({ ...gitlab('Python'), package: 'python3-gitlab' }, toolsDir, log)

/** Finds a Ruby with the gem gitlab, or null. */
export const findGitlabRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby({ ...gitlab('Ruby'), package: 'ruby-gitlab' }, toolsDir, log)

/** Returns another implementation of gRPC than grpc-js, a client of saga-reporter in its tests. */
const grpc = (language: string) => ({
  title: `gRPC for ${language}`,
  tests: `tests with the gRPC client of ${language}`,
  module: 'grpc',
})

/** Finds a Python with gRPC, or null. */
export const findGrpcPython = (toolsDir: string, log: (line: string) => void) =>
  findPython({ ...grpc('Python'), package: 'python3-grpcio' }, toolsDir, log)

/** Finds a Ruby with gRPC, or null. */
export const findGrpcRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby({ ...grpc('Ruby'), package: 'ruby-grpc' }, toolsDir, log)
