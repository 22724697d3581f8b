import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { DomainError, invalid, notFound, tooLarge, unavailable, unprocessable } from '@switchyard/domain'
import type { GitContext } from './git-slots.js'
import { runProgram } from './program-starter.js'

/**
 * Largest file that git compares or stores as a delta, because git loads such files into memory as a whole.
 */
export const comparedBytesMax = 64 * 1024 * 1024

/** Id of the tree without entries, which git knows without storing it. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Settings that override the configuration of every repository. */
const settings: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  // A stored configuration could name programs for git to run. These settings disable most of them. Flags
  // disable those of comparisons, and merges run in a repository that has no configuration.
  'core.alternateRefsCommand': 'true',
  'core.fsmonitor': 'false',
  'gpg.program': 'false',
  'gpg.openpgp.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'log.showSignature': 'false',
  // No attributes apply. Without this setting some versions of git read them from the default branch.
  'attr.tree': emptyTree,
  'core.attributesFile': '/dev/null',
  'core.bigFileThreshold': String(comparedBytesMax),
  'core.fsync': 'committed,reference',
  'core.protectHFS': 'true',
  'core.protectNTFS': 'true',
  'core.filesRefLockTimeout': '3000',
  'core.packedRefsTimeout': '3000',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'receive.autogc': 'false',
  'receive.fsckObjects': 'true',
  // Old histories fail these checks and are harmless.
  'receive.fsck.badTimezone': 'ignore',
  'receive.fsck.missingSpaceBeforeDate': 'ignore',
  'receive.fsck.zeroPaddedFilemode': 'ignore',
  'safe.directory': '*',
  'transfer.hideRefs': 'refs/keep-around/',
  'uploadpack.allowFilter': 'true',
  'uploadpack.allowAnySHA1InWant': 'true',
}

/**
 * Returns the whole environment of a git process. It inherits only PATH, and git reads no configuration of
 * the machine or of a user.
 */
function environment({ variables, hooksPath, settings: added }: SpawnOptions): NodeJS.ProcessEnv {
  const configuration = Object.entries({
    ...settings,
    ...added,
    ...(hooksPath && { 'core.hooksPath': hooksPath }),
  })
  return {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    TZ: 'UTC',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // git fetches no missing object, even if a stored configuration allows a transport.
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_CONFIG_COUNT: String(configuration.length),
    ...Object.fromEntries(
      configuration.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...variables,
  }
}

/** Most commits that git can skip in a list, because a greater number overflows. */
export const skipMax = 2_147_483_647

/**
 * A git command in parts. Text of a caller is never read as an option: revisions follow `--end-of-options`,
 * paths follow `--`.
 */
export interface GitCommand {
  command: string
  /** Fixed options. Text of a caller may only be the value of a long option, after its `=`. */
  flags?: string[]
  revisions?: string[]
  paths?: string[]
}

export const argumentsOf = (path: string, { command, flags = [], revisions, paths }: GitCommand) => [
  `--git-dir=${path}`,
  command,
  ...flags,
  ...(revisions ? ['--end-of-options', ...revisions] : []),
  ...(paths ? ['--', ...paths] : []),
]

export interface SpawnOptions {
  /** Variables that are added to the environment. */
  variables?: Record<string, string>
  /** Settings that are added to the configuration. */
  settings?: Record<string, string>
  /** Folder of the hooks that may run. Unset: no hook runs. */
  hooksPath?: string
  /** Number of streams for hooks to read and write, from descriptor 3 on. Unset: 0. */
  hookStreams?: number
  /** Memory of git and of each process it starts, without the packs that they map. Unset: 1 GiB. */
  memoryBytesMax?: number
}

/**
 * Memory of a git process. Trees of some kilobytes can name more files than fit into the memory of any
 * machine. This limit suffices for a commit of a million files, and for comparing two files of
 * `comparedBytesMax` bytes with lines of usual length.
 */
const processBytesDefault = 1024 ** 3

/**
 * Starts git from this process, which the operating system pauses meanwhile (see `runProgram`). The caller
 * handles the streams, and learns the end of git from {@link ended}.
 *
 * @throws DomainError unavailable when this process has too many open files
 */
export function spawnGit(args: string[], options: SpawnOptions = {}): ChildProcessWithoutNullStreams {
  const child = spawn('sh', limited(args, options), {
    cwd: '/',
    env: environment(options),
    stdio: [
      'pipe',
      'pipe',
      'pipe',
      ...Array.from({ length: options.hookStreams ?? 0 }, () => 'pipe' as const),
    ],
  }) as ChildProcessWithoutNullStreams
  // Without a listener, a process that cannot be started would end this process.
  child.on('error', () => {})
  // Node creates no streams when this process has too many open files.
  if (!child.stdin) throw unavailable('git does not answer', { cause: new Error('too many open files') })
  // The exit code of a process that stops reading early tells the reason; the error of the broken pipe does
  // not.
  child.stdin.on('error', () => {})
  return child
}

/**
 * Returns a command line that limits the memory and priority of git. A shell sets the memory limit, where the
 * system supports it, and replaces itself with git. It interprets no argument. `nice` lowers the priority of
 * git, so that small requests are answered while git works for large ones.
 */
function limited(args: string[], { memoryBytesMax = processBytesDefault }: SpawnOptions): string[] {
  const kilobytes = String(Math.ceil(memoryBytesMax / 1024))
  return ['-c', 'ulimit -d "$0" 2>/dev/null; exec nice -n 10 git "$@"', kilobytes, ...args]
}

const complaint = /^(?:fatal|error): /i
const outOfMemory = /out of memory|cannot allocate memory/i

/**
 * Returns the error for a git process that ran out of memory, according to its stderr; null when it did not.
 */
export const memoryRefusal = (stderr: string): DomainError | null =>
  stderr.split('\n').some((line) => complaint.test(line) && outOfMemory.test(line))
    ? tooLarge('git needs more memory for this request than it may use')
    : null

const crashes: readonly (NodeJS.Signals | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL']

/**
 * Returns the error for a git process that crashed, as on folders that are nested too deeply; null for every
 * other signal.
 */
export const crashRefusal = (signal: NodeJS.Signals | null, cause: Error): DomainError | null =>
  crashes.includes(signal)
    ? unprocessable('git cannot process this: the folders may be nested too deeply', { cause })
    : null

/** The error of an answer that took longer than the question allows. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow'
}

/** Returns whether the question itself takes more time or memory than is allowed. */
export const isTooHard = (error: unknown): error is DomainError =>
  error instanceof DomainError && (error.kind === 'too-large' || error.cause instanceof TooSlow)

const killAfterMs = 2000

/** Sends SIGTERM, on which git removes its lock files, and SIGKILL when the process does not end in time. */
export function stopGit(child: ChildProcessWithoutNullStreams): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  child.once('close', () => clearTimeout(timer))
}

export interface RunOptions extends Pick<SpawnOptions, 'variables' | 'settings' | 'memoryBytesMax'> {
  /** Unset: the signal of the context. */
  signal?: AbortSignal | undefined
  /** Path of the repository in which git runs. Unset: the one of the context. */
  runsIn?: string | undefined
  timeoutMs?: number
  stdin?: string | Uint8Array
  /** Longest output. A longer one is cut off, and the process is ended. */
  stdoutBytesMax?: number
}

export interface GitResult {
  /** Null when the process was ended because its output was too long. */
  code: number | null
  stdout: Buffer
  stderr: string
  /** Whether the output was longer than `stdoutBytesMax`. */
  truncated: boolean
}

const timeoutMsDefault = 60_000
const stdoutBytesMaxDefault = 64 * 1024 * 1024
const stderrBytesMax = 64 * 1024

/**
 * Runs one git command to its end, once its sender has a slot for it.
 *
 * @param context a path alone: no request waits for this command, and it takes no slot
 * @throws DomainError invalid for an argument over 128 KiB, unavailable after the timeout and when there is
 * no slot, rate-limited when the sender holds its share, too-large when git ran out of its memory,
 * unprocessable when it crashed; the reason of the signal when the signal is aborted
 */
export function runGit(
  context: GitContext | string,
  command: GitCommand,
  options: RunOptions = {},
): Promise<GitResult> {
  if (typeof context === 'string') return runToEnd(context, command, options)
  const { memoryBytesMax: bytesMax = processBytesDefault, runsIn = context.path } = options
  return context.engine.slots.runProcess(context, bytesMax, (memoryBytesMax) =>
    runToEnd(runsIn, command, { signal: context.signal, ...options, memoryBytesMax }),
  )
}

/** Longest argument. Linux accepts 128 KiB, including the byte that ends the argument. */
const argumentBytesMax = 128 * 1024 - 1

async function runToEnd(path: string, command: GitCommand, options: RunOptions): Promise<GitResult> {
  const { signal, stdin, timeoutMs = timeoutMsDefault, stdoutBytesMax = stdoutBytesMaxDefault } = options
  signal?.throwIfAborted()
  const args = limited(argumentsOf(path, command), options)
  if (args.some((argument) => Buffer.byteLength(argument) > argumentBytesMax)) {
    throw invalid('A parameter is longer than git can take')
  }
  const limits = { timeoutMs, stdoutBytesMax, stderrBytesMax }
  const program = { command: 'sh', args, env: environment(options), stdin, signal, ...limits }
  const { code, signal: endedBy, stdout, stderr, truncated, tookMs } = await runProgram(program)
  signal?.throwIfAborted()
  if (code === null && !truncated) {
    const text = `git ${command.command} ended after ${Math.round(tookMs)} ms by ${endedBy}`
    const crash = crashRefusal(endedBy, new Error(text))
    if (crash) throw crash
    throw unavailable('git does not answer', {
      cause: tookMs >= timeoutMs ? new TooSlow(text) : new Error(text),
    })
  }
  const result = { code, stdout: bufferOf(stdout), stderr: bufferOf(stderr).toString(), truncated }
  const refusal = code === 0 ? null : memoryRefusal(result.stderr)
  if (refusal) throw refusal
  return result
}

/** Returns the non-empty lines of ASCII output. */
export const linesOf = (output: Buffer): string[] => output.toString('latin1').split('\n').filter(Boolean)

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length)

/**
 * Runs a command that must succeed.
 *
 * @throws DomainError not-found without a repository; GitError for every other failure
 */
export async function runGitOk(
  context: GitContext | string,
  command: GitCommand,
  options?: RunOptions,
): Promise<GitResult> {
  const result = await runGit(context, command, options)
  if (result.code !== 0 && !result.truncated) throw gitFailure(command, result)
  return result
}

/** Returns the error for a failed command. */
export const gitFailure = (command: GitCommand, result: GitResult): Error =>
  /not a git repository/i.test(result.stderr) ? notFound('Repository') : new GitError(command, result)

/** The error of a command that failed because of a defect or a damaged repository. */
export class GitError extends Error {
  readonly stderr: string

  constructor({ command }: GitCommand, { code, stderr }: GitResult) {
    super(`git ${command} exited with ${code}: ${stderr.trim().slice(0, 1000)}`)
    this.name = 'GitError'
    this.stderr = stderr
  }
}

/**
 * Resolves with the exit code (null after a signal) when the process has ended and all its output was read.
 *
 * @throws DomainError unavailable when the process could not be started
 */
export function ended(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', (cause) => reject(unavailable('git does not answer', { cause })))
    child.once('close', resolve)
  })
  // Callers read the output first, and wait for the code afterwards.
  code.catch(() => {})
  return code
}
