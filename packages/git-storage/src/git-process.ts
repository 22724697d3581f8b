import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { type DomainError, notFound, tooLarge, unavailable } from '@switchyard/domain'

/** A file of more bytes is neither compared nor made into deltas, so its size is no memory. */
export const comparedBytesMax = 64 * 1024 * 1024

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Settings that hold in every repository, whatever its own configuration says. */
const settings: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  // Programs that a stored configuration could name. Those of the rest are kept out where they would run: the
  // comparisons by flags, merges by a repository that has no configuration of its own.
  'core.alternateRefsCommand': 'true',
  'core.fsmonitor': 'false',
  'gpg.program': 'false',
  'gpg.openpgp.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'log.showSignature': 'false',
  // Attributes are nobody's: by its version git would take them from nowhere or from the default branch.
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
  // Histories older than these checks exist and are harmless.
  'receive.fsck.badTimezone': 'ignore',
  'receive.fsck.missingSpaceBeforeDate': 'ignore',
  'receive.fsck.zeroPaddedFilemode': 'ignore',
  'safe.directory': '*',
  'transfer.hideRefs': 'refs/keep-around/',
  'uploadpack.allowFilter': 'true',
  'uploadpack.allowAnySHA1InWant': 'true',
}

/**
 * The whole environment of a git process: nothing of ours leaks into it, and no configuration of the
 * machine or of a user reaches it.
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
    // What is missing is missing: nothing is fetched, whatever transport a stored configuration allows.
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

/**
 * A git command in parts, so that nothing a caller sent is ever read as an option: revisions follow
 * `--end-of-options`, paths follow `--`.
 */
export interface GitCommand {
  command: string
  /** Ours; a caller's text only as the value of a long option, behind its `=`. */
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
  /** Added to the environment. */
  variables?: Record<string, string>
  /** Added to the configuration. */
  settings?: Record<string, string>
  /** Folder of the hooks that may run. Unset: none. */
  hooksPath?: string
  /** How many streams to open besides the usual three, from descriptor 3 on, for hooks to read and write. */
  hookStreams?: number
  /** Of data, for it and each process it starts; packs are mapped and do not count. Unset: 1 GiB. */
  memoryBytesMax?: number
}

/**
 * Some kilobytes of trees can name more files than any machine has memory for. Here fit a commit of a million files, and
 * two files of the size up to which they are compared, unless their lines are of a few characters.
 */
export const processBytesDefault = 1024 ** 3

/** Starts git; its streams are the caller's. */
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
  // A child that stops reading early reports why by its exit; the broken pipe itself says nothing.
  child.stdin.on('error', () => {})
  return child
}

/** The shell sets the limit, where the system has such a one, and then becomes git; no argument is read by it. */
function limited(args: string[], { memoryBytesMax = processBytesDefault }: SpawnOptions): string[] {
  const kilobytes = String(Math.ceil(memoryBytesMax / 1024))
  return ['-c', 'ulimit -d "$0" 2>/dev/null; exec git "$@"', kilobytes, ...args]
}

const complaint = /^(?:fatal|error): /i
const outOfMemory = /out of memory|cannot allocate memory/i

/** What it means that git got no more memory, by what it said of it; null when it had enough. */
export const memoryRefusal = (stderr: string): DomainError | null =>
  stderr.split('\n').some((line) => complaint.test(line) && outOfMemory.test(line))
    ? tooLarge('This is more than git can work on within its memory')
    : null

const killAfterMs = 2000

/** Asks a process to end, which removes its lock files; ends it for good when it does not. */
export function stopGit(child: ChildProcessWithoutNullStreams): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  child.once('close', () => clearTimeout(timer))
}

export interface RunOptions extends Pick<SpawnOptions, 'variables' | 'settings' | 'memoryBytesMax'> {
  signal?: AbortSignal | undefined
  timeoutMs?: number
  stdin?: string | Uint8Array
  /** Output beyond this is cut off, and the process ended. */
  stdoutBytesMax?: number
}

export interface GitResult {
  /** Null when it was ended because of its output. */
  code: number | null
  stdout: Buffer
  stderr: string
  /** There was more output than asked for. */
  truncated: boolean
}

const timeoutMsDefault = 60_000
const stdoutBytesMaxDefault = 64 * 1024 * 1024
const stderrBytesMax = 64 * 1024

/**
 * Runs one git command to its end.
 *
 * @throws DomainError unavailable after the timeout, too-large when its memory did not do; the signal's reason when it
 *   is aborted
 */
export async function runGit(
  path: string,
  command: GitCommand,
  options: RunOptions = {},
): Promise<GitResult> {
  const { signal, timeoutMs = timeoutMsDefault, stdoutBytesMax = stdoutBytesMaxDefault } = options
  signal?.throwIfAborted()
  const child = spawnGit(argumentsOf(path, command), options)
  const stop = () => stopGit(child)
  const timer = setTimeout(stop, timeoutMs)
  signal?.addEventListener('abort', stop)
  const stdout = collect(child.stdout, stdoutBytesMax, stop)
  const stderr = collect(child.stderr, stderrBytesMax)
  const startedAt = performance.now()
  child.stdin.end(options.stdin)
  try {
    const code = await ended(child)
    signal?.throwIfAborted()
    const truncated = stdout.overflown()
    if (code === null && !truncated) {
      const cause = new Error(
        `git ${command.command} ended after ${Math.round(performance.now() - startedAt)} ms`,
      )
      throw unavailable('git', { cause })
    }
    const result = { code, stdout: stdout.bytes(), stderr: stderr.bytes().toString(), truncated }
    const refusal = code === 0 ? null : memoryRefusal(result.stderr)
    if (refusal) throw refusal
    return result
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** Runs a command that must succeed. @throws GitError with what git said otherwise; DomainError not-found without a repository */
export async function runGitOk(path: string, command: GitCommand, options?: RunOptions): Promise<GitResult> {
  const result = await runGit(path, command, options)
  if (result.code !== 0 && !result.truncated) throw gitFailure(command, result)
  return result
}

/** What a failed command means. */
export const gitFailure = (command: GitCommand, result: GitResult): Error =>
  /not a git repository/i.test(result.stderr) ? notFound('Repository') : new GitError(command, result)

/** A command that should have worked did not: a defect, or a damaged repository. */
export class GitError extends Error {
  readonly stderr: string

  constructor({ command }: GitCommand, { code, stderr }: GitResult) {
    super(`git ${command} exited with ${code}: ${stderr.trim().slice(0, 1000)}`)
    this.name = 'GitError'
    this.stderr = stderr
  }
}

/** Resolves with the exit code, null after a signal, when all output is here. */
export function ended(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })
}

function collect(stream: NodeJS.ReadableStream, bytesMax: number, onOverflow?: () => void) {
  const chunks: Buffer[] = []
  let length = 0
  let overflown = false
  stream.on('data', (chunk: Buffer) => {
    if (overflown) return
    const kept = chunk.subarray(0, bytesMax - length)
    chunks.push(kept)
    length += kept.length
    overflown = kept.length < chunk.length
    if (overflown) onOverflow?.()
  })
  return { bytes: () => Buffer.concat(chunks, length), overflown: () => overflown }
}
