import { H2Client } from './h2-client.js'
import { type LoadOrder, type LoadResult, resultOf } from './load-types.js'
import { type Template, templatesOf } from './traces.js'

/**
 * An orchestrator: it reports one saga after the other, and each event after the answer to the previous one.
 */
interface Slot {
  client: H2Client
  saga: number
  trace: readonly Template[]
  step: number
  sentAt: number
}

const isSuccess = (bytes: Buffer, start: number) => bytes[start] === 8 && bytes[start + 1] === 1

/** Runs the load until its time is over and every call is answered. */
export async function runSingleLoad(order: LoadOrder): Promise<LoadResult> {
  const load = new Load(order)
  await load.connect(order.port)
  return load.run()
}

class Load {
  readonly #order: LoadOrder
  readonly #slots: Slot[] = []
  /** Slots that wait for the time of their next event. */
  readonly #idle: number[] = []
  readonly #latencies: number[] = []
  #client: H2Client | undefined
  #sagas = 0
  #underWay = 0
  #acknowledged = 0
  #refused = 0
  #beginMs = 0
  #endMs = 0
  #onDone: () => void = () => {}

  constructor(order: LoadOrder) {
    this.#order = order
  }

  async connect(port: number): Promise<void> {
    const accepts = this.#order.isEcho ? () => true : isSuccess
    const client = await H2Client.open(port, accepts, (slot, ok) => this.#answered(slot, ok))
    this.#client = client
    for (let index = 0; index < this.#order.callers; index += 1) {
      this.#slots.push({ client, saga: -1, trace: [], step: 0, sentAt: 0 })
    }
  }

  async run(): Promise<LoadResult> {
    const { warmUpSeconds, seconds, rate } = this.#order
    this.#beginMs = performance.now() + warmUpSeconds * 1000
    this.#endMs = this.#beginMs + seconds * 1000
    const done = new Promise<void>((resolve) => {
      this.#onDone = resolve
    })
    const cpuBefore = process.cpuUsage()
    if (rate === undefined) for (const index of this.#slots.keys()) this.#next(index, performance.now())
    else this.#pace(1000 / rate)
    this.#flush()
    await done
    const cpu = process.cpuUsage(cpuBefore)
    this.#client?.close()
    if (this.#refused > 0) throw new Error(`${this.#refused} events refused`)
    return resultOf(this.#order, this.#latencies, this.#acknowledged, cpu)
  }

  #next(index: number, sentAt: number): void {
    const slot = this.#slots[index] as Slot
    if (slot.step === slot.trace.length) {
      slot.saga = this.#sagas
      slot.trace = templatesOf(slot.saga)
      slot.step = 0
      this.#sagas += 1
    }
    slot.sentAt = sentAt
    slot.client.send(index, slot.trace[slot.step] as Template, this.#order.runDigits, slot.saga)
    slot.step += 1
    this.#underWay += 1
  }

  #answered(index: number, ok: boolean): void {
    const slot = this.#slots[index] as Slot
    const now = performance.now()
    this.#underWay -= 1
    if (ok) this.#acknowledged += 1
    else this.#refused += 1
    if (ok && now >= this.#beginMs && now < this.#endMs) this.#latencies.push(now - slot.sentAt)
    if (now >= this.#endMs) {
      this.#finish(index, now)
      this.#endWhenDone()
    } else if (this.#order.rate !== undefined) this.#idle.push(index)
    else this.#next(index, now)
  }

  /** A started saga is reported to its end, so that the expected content of the database is known. */
  #finish(index: number, now: number): void {
    const slot = this.#slots[index] as Slot
    if (slot.step < slot.trace.length) this.#next(index, now)
  }

  /** Waiting slots may have an unfinished saga, even without a call in progress. */
  #endWhenDone(): void {
    if (this.#underWay === 0 && this.#idle.length === 0) this.#onDone()
  }

  /** Sends at a fixed rate, whatever the server does; the latency of an event counts from its due time. */
  #pace(everyMs: number): void {
    for (const index of this.#slots.keys()) this.#idle.push(index)
    let due = performance.now()
    const tick = () => {
      const now = performance.now()
      if (now >= this.#endMs) {
        for (const index of this.#idle.splice(0)) this.#finish(index, now)
        this.#endWhenDone()
      } else {
        for (; due <= now && this.#idle.length > 0; due += everyMs)
          this.#next(this.#idle.shift() as number, due)
        setTimeout(tick, 1)
      }
      this.#flush()
    }
    tick()
  }

  #flush(): void {
    this.#client?.flush()
  }
}
