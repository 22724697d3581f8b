import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'
import { rubyBinaries, rubyFolders } from './ruby-folders.js'

/** An interpreter with Debian's gRPC, a client of the saga reporter in its tests. */
interface GrpcClient {
  language: string
  tool: AptTool
  /** Names of the interpreter on PATH. */
  programs: string[]
  /** Arguments with which the interpreter succeeds when it has gRPC. */
  probe: string[]
}

const python: GrpcClient = {
  language: 'Python',
  tool: {
    name: 'python3-grpcio',
    packages: ['python3-grpcio'],
    binaries: ['usr/bin/python3.11', 'usr/bin/python3.12', 'usr/bin/python3.13'],
    folders: () => ({ PYTHONPATH: ['usr/lib/python3/dist-packages'] }),
  },
  programs: ['python3'],
  probe: ['-c', 'import grpc'],
}

const ruby: GrpcClient = {
  language: 'Ruby',
  tool: { name: 'ruby-grpc', packages: ['ruby-grpc'], binaries: rubyBinaries, folders: rubyFolders },
  programs: ['ruby'],
  probe: ['-e', 'require "grpc"'],
}

type Log = (line: string) => void

/** A Python that has gRPC, found or fetched as {@link findGrpcRuby} does. */
export const findGrpcPython = (toolsDir: string, log: Log) => findClient(python, toolsDir, log)

/**
 * A Ruby that has gRPC: the one on PATH, else the copy below `toolsDir`, else fetched there by apt without root. Null,
 * with the reason told, when there is none: only tests with real clients need it.
 */
export const findGrpcRuby = (toolsDir: string, log: Log) => findClient(ruby, toolsDir, log)

async function findClient(client: GrpcClient, toolsDir: string, log: Log): Promise<string | null> {
  const { language, tool, programs } = client
  const present = findOnPath(...programs)
  if (present && (await hasGrpc(client, present))) return present
  const copy = findAptCopy(tool, toolsDir)
  if (copy) return copy
  log(`fetching gRPC for ${language} with apt, into the data folder`)
  try {
    const launcher = await fetchAptCopy(tool, toolsDir)
    if (!(await hasGrpc(client, launcher))) throw new Error('the copy does not run')
    return launcher
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    log(`SKIPPED: tests with the gRPC client of ${language}, because there is none (${reason}).`)
    log(`         To run them, type "sudo apt-get install -y ${tool.name}".`)
    return null
  }
}

async function hasGrpc({ probe }: GrpcClient, program: string): Promise<boolean> {
  const result = await execa(program, probe, { reject: false })
  return result.exitCode === 0
}
