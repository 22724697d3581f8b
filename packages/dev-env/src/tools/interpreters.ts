import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'
import { rubyBinaries, rubyFolders } from './ruby-folders.js'

/** A library of Debian for an interpreter, which only tests against real clients and peers need. */
export interface DebianLibrary {
  /** Completes `fetching … with apt`. */
  title: string
  /** Debian package that holds the library. */
  package: string
  /** Completes `SKIPPED: …`. */
  tests: string
  /** Name by which the interpreter loads the library. */
  module: string
}

type Log = (line: string) => void

/** A Python that has the library, found or fetched as {@link findRuby} does. */
export const findPython = (library: DebianLibrary, toolsDir: string, log: Log) =>
  findInterpreter(library, toolsDir, log, {
    program: 'python3',
    binaries: ['usr/bin/python3.11', 'usr/bin/python3.12', 'usr/bin/python3.13'],
    folders: () => ({ PYTHONPATH: ['usr/lib/python3/dist-packages'] }),
    probe: ['-c', `import ${library.module}`],
  })

/**
 * A Ruby that has the library: the one on PATH, else the copy below `toolsDir`, else fetched there by apt without root.
 * Null, with the reason reported, when there is none.
 */
export const findRuby = (library: DebianLibrary, toolsDir: string, log: Log) =>
  findInterpreter(library, toolsDir, log, {
    program: 'ruby',
    binaries: rubyBinaries,
    folders: rubyFolders,
    probe: ['-e', `require "${library.module}"`],
  })

interface Interpreter extends Pick<AptTool, 'binaries' | 'folders'> {
  /** Its name on PATH. */
  program: string
  /** Arguments with which it succeeds when it has the library. */
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
