import { randomUUID } from 'node:crypto'
import { CommandRefused, type SagaClient } from '@switchyard/saga-client'

/** One action of a saga, and its compensation. */
export interface Step {
  name: string
  parameter: unknown
  execute: () => Promise<unknown>
  compensate: () => Promise<void>
}

export type Outcome = 'succeeded' | 'compensated' | 'stuck'

/** A step that has begun. */
interface Begun {
  step: Step
  activityId: string
  isUndone: boolean
}

/**
 * A saga, which runs its steps in order. When a step fails, that step and the earlier ones are undone, the
 * last first. The saga reports every event, but never waits for the reporter and never fails because of it.
 */
export class Saga {
  readonly id: string
  /** The reason of the failure. */
  because: unknown
  readonly #reporter: SagaClient
  readonly #steps: readonly Step[]
  readonly #begun: Begun[] = []
  #isCanceled = false
  #running: Promise<Outcome> | null = null
  #outcome: Outcome | null = null

  constructor(reporter: SagaClient, id: string, steps: readonly Step[]) {
    this.#reporter = reporter
    this.id = id
    this.#steps = steps
  }

  run(): Promise<Outcome> {
    this.#running = this.#execute()
    return this.#running
  }

  /**
   * Tries again to undo a step, and continues.
   *
   * @throws CommandRefused when the saga is not stuck at that step
   */
  async retry(activityId: string): Promise<Outcome> {
    this.#requireStuckAt(activityId)
    return this.#undo()
  }

  /**
   * Continues as if a step had been undone.
   *
   * @throws CommandRefused when the saga is not stuck at that step
   */
  async skip(activityId: string): Promise<Outcome> {
    const begun = this.#requireStuckAt(activityId)
    begun.isUndone = true
    void this.#reporter.activityCompensated({ sagaId: this.id, activityId })
    return this.#undo()
  }

  /**
   * Undoes the finished steps, and begins no further step.
   *
   * @throws CommandRefused when the saga is already undone
   */
  async compensate(): Promise<Outcome> {
    if (this.#outcome === 'compensated') throw new CommandRefused('the trip is compensated')
    if (this.#outcome !== null) return this.#undo()
    this.because = 'an operator has canceled it'
    this.#isCanceled = true
    return this.#running ?? this.run()
  }

  /**
   * Undoes a trip that has not ended.
   *
   * @throws CommandRefused when it has ended
   */
  async cancel(): Promise<Outcome> {
    if (this.#outcome === 'succeeded') throw new CommandRefused('the trip is booked: compensate it')
    return this.compensate()
  }

  async #execute(): Promise<Outcome> {
    void this.#reporter.sagaStarted({ sagaId: this.id })
    for (const [order, step] of this.#steps.entries()) {
      if (this.#isCanceled || !(await this.#executeStep(step, order))) return this.#undo()
    }
    return this.#isCanceled ? this.#undo() : this.#end('succeeded')
  }

  async #executeStep(step: Step, order: number): Promise<boolean> {
    const activityId = randomUUID()
    const about = { sagaId: this.id, activityId }
    this.#begun.push({ step, activityId, isUndone: false })
    const { parameter, name } = step
    void this.#reporter.activityExecuteStarted({
      ...about,
      order,
      timeOutSeconds: 30,
      parameter,
      tags: { step: name },
    })
    try {
      const result = await step.execute()
      void this.#reporter.activityEnded({ ...about, result })
      return true
    } catch (error) {
      void this.#reporter.activityExecuteAborted({ ...about, error })
      this.because = error
      return false
    }
  }

  /** Undoes the steps that have begun. A step that cannot be undone is left to people. */
  async #undo(): Promise<Outcome> {
    for (const begun of this.#begun.toReversed()) {
      if (begun.isUndone) continue
      const about = { sagaId: this.id, activityId: begun.activityId }
      try {
        await begun.step.compensate()
        begun.isUndone = true
        void this.#reporter.activityCompensated(about)
      } catch (error) {
        void this.#reporter.activityCompensateAborted({ ...about, error, final: true })
        this.because = error
        this.#outcome = 'stuck'
        return 'stuck'
      }
    }
    return this.#end('compensated')
  }

  #end(outcome: Outcome): Outcome {
    this.#outcome = outcome
    void this.#reporter.sagaEnded({ sagaId: this.id })
    return outcome
  }

  #requireStuckAt(activityId: string): Begun {
    const last = this.#begun.findLast(({ isUndone }) => !isUndone)
    if (this.#outcome !== 'stuck' || last?.activityId !== activityId)
      throw new CommandRefused('the trip does not stand still at this step')
    return last
  }
}
