import { availableParallelism, totalmem } from 'node:os'
import { isRefusal } from '@switchyard/domain'
import { Slots } from '@switchyard/service-kit/slots'

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

/**
 * Memory that a git process gets at first. It suffices for most processes; a process that runs out of it runs
 * again with more.
 */
const usualBytes = 64 * mebibyte

const waitMs = 30_000
const retryAfterMs = waitMs
const waitingMax = 2_000
const waitingPerSenderMax = 250
const reservedShare = 0.25

export interface GitLimits {
  /**
   * Memory of all git processes together, in bytes. Unset: a third of the memory that this process may use.
   */
  memoryBytesMax?: number | undefined
  /**
   * Most memory of one git process that compares commits or reads objects, without mapped packs. Unset: 128
   * MiB for each core, 256 MiB to 1 GiB.
   */
  processBytesMax?: number | undefined
  /**
   * Most fetches, pushes and downloads at the same time. Unset: 16 for each core, as far as the memory
   * suffices.
   */
  streamsMax?: number | undefined
  /** Most of them for one sender. Unset: 2 for each core, at least 4. */
  streamsPerSenderMax?: number | undefined
}

/** Returns the memory that this process may use: that of its container, otherwise of the machine. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

function withDefaults(given: GitLimits) {
  const cores = availableParallelism()
  const memoryBytesMax = given.memoryBytesMax ?? Math.max(4 * usualBytes, memoryOfProcess() / 3)
  const processBytes = Math.min(Math.max(cores * 128 * mebibyte, 256 * mebibyte), gibibyte)
  const streams = Math.max(8, Math.min(16 * cores, Math.floor(memoryBytesMax / usualBytes / 2)))
  const streamsMax = given.streamsMax ?? streams
  return {
    processesMax: Math.max(8, 2 * cores),
    memoryBytesMax,
    processBytesMax: Math.min(given.processBytesMax ?? processBytes, memoryBytesMax),
    streamsMax,
    streamsPerSenderMax: given.streamsPerSenderMax ?? Math.min(Math.max(4, 2 * cores), streamsMax),
  }
}

const tooMany = (what: string) => `You have too many ${what} under way. Try again later.`
const waiting = { waitMs, waitingMax, waitingPerSenderMax, reservedShare }
const refusals = { sender: tooMany('requests for repositories'), everybody: 'git', retryAfterMs }

/** Creates the slots for questions to long-running processes, which answer within milliseconds. */
export const createQuestionSlots = (total: number, perGroup: number): Slots =>
  new Slots({ total, perSender: Math.ceil(total / 2), perGroup, ...waiting }, refusals)

/** A repository, and the sender of the questions about it. */
export interface RepositoryClient {
  /** Path of the bare repository. */
  path: string
  /**
   * The user or the address whose questions share slots. Unset: all questions about the repository without a
   * sender share them.
   */
  sender?: string | undefined
  /** Aborted when the client that waits for the work disconnects. */
  readonly signal?: AbortSignal | undefined
}

/** A repository and its sender, with the slots of git. */
export interface GitContext extends RepositoryClient {
  engine: { slots: GitSlots }
}

/**
 * The capacity of this machine for git, shared among the senders of requests. Each question to git takes a
 * slot, by sender, by repository and in total.
 */
export class GitSlots {
  /** Most memory of one process that compares commits or reads objects. */
  readonly processBytesMax: number
  /** Slots for processes that run to their end and then send their whole output. */
  readonly processes: Slots
  /** Slots for processes that send their output to a client while they run, such as a fetch. */
  readonly streams: Slots
  /** Slots for bytes of memory of all processes. */
  readonly memory: Slots
  readonly #memoryBytesMax: number
  #lastStream = 0

  constructor(limits: GitLimits = {}) {
    const { processesMax, memoryBytesMax, processBytesMax, streamsMax, streamsPerSenderMax } =
      withDefaults(limits)
    this.processBytesMax = processBytesMax
    this.#memoryBytesMax = memoryBytesMax
    this.processes = new Slots(
      { total: processesMax, perSender: processesMax / 2, perGroup: processesMax / 2, ...waiting },
      refusals,
    )
    this.streams = new Slots(
      {
        total: streamsMax,
        perSender: streamsPerSenderMax,
        perGroup: Math.max(4, Math.ceil(0.75 * streamsMax)),
        // A clone consists of several requests, and a pull followed by a push consists of two.
        reservedHeldMax: 2,
        ...waiting,
        waitingPerSenderMax: 100,
      },
      {
        sender: tooMany('fetches and pushes'),
        everybody: 'too many fetches and pushes are under way',
        retryAfterMs,
      },
    )
    this.memory = new Slots(
      {
        total: memoryBytesMax,
        perSender: Math.max(processBytesMax, 4 * usualBytes),
        ...waiting,
        reservedHeldMax: usualBytes,
      },
      refusals,
    )
  }

  /**
   * Runs a process that sends its whole output at its end. It gets little memory at first, and more when that
   * did not suffice.
   *
   * @param work starts the process with a limit of memory, and throws DomainError too-large when the process
   * runs out of it
   * @throws DomainError rate-limited when the sender has used its share, unavailable when there is no slot;
   * every error of the work
   */
  runProcess<Result>(
    client: RepositoryClient,
    bytesMax: number,
    work: (memoryBytesMax: number) => Promise<Result>,
  ): Promise<Result> {
    const sender = senderOf(client)
    const withMemory = (bytes: number) =>
      this.memory.run({ sender, size: bytes }, client.signal, () => work(bytes))
    // More than the unreserved part would only be free when nobody else asks.
    const most = Math.min(bytesMax, this.#memoryBytesMax * (1 - reservedShare))
    return this.processes.run({ sender, group: client.path }, client.signal, async () => {
      try {
        return await withMemory(Math.min(usualBytes, most))
      } catch (error) {
        const isOutOfMemory = isRefusal(error, 'too-large')
        if (!isOutOfMemory || most <= usualBytes) throw error
        return withMemory(most)
      }
    })
  }

  /**
   * Does work in which a process sends its output to a client while it runs.
   *
   * @throws DomainError like {@link runProcess}
   */
  runStream<Result>(client: RepositoryClient, work: () => Promise<Result>): Promise<Result> {
    return this.streams.run({ sender: senderOf(client), group: client.path }, client.signal, () => {
      // The streams of a sender are counted above. Their length must not delay the sender's other requests.
      this.#lastStream += 1
      const sender = `stream ${this.#lastStream}`
      return this.memory.run({ sender, size: usualBytes }, client.signal, work)
    })
  }
}

/** Returns the sender of work. Work without a request counts for its repository. */
export const senderOf = ({ sender, path }: RepositoryClient): string => sender ?? path
