import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials, Metadata } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import {
  EventOutcome,
  type ReportEventsResponse,
  ReportedEvent,
  SagaIngestClient,
} from '@switchyard/contracts/saga-ingest'
import { execa } from 'execa'
import { expect } from 'vitest'

/** The kinds of writes: sagas by single calls and by batches, commits by REST and by pushes, statuses. */
export type Kind = 'sagas' | 'batches' | 'httpBatches' | 'commits' | 'statuses' | 'pushes'

/** An installation to which clients write. */
export interface Written {
  url: string
  /** `host:port` */
  grpcAddress: string
  rootToken: string
}

interface Journal {
  /** Ids of sagas, hashes of commits, names of statuses. */
  acknowledged: string[]
  /** Times of acknowledgements, in ms of `performance.now()`. */
  times: number[]
  errors: string[]
}

const sagasOfBatch = 20
const sagaIdsOf = (batch: string) => Array.from({ length: sagasOfBatch }, (_, index) => `${batch}-${index}`)
const project = 'projects/root%2Fsafe'

/** Clients that write until they are stopped, one of each kind, and record the acknowledged writes. */
export class AcknowledgedWrites {
  readonly journals: Map<Kind, Journal>
  readonly #target: Written
  readonly #client: SagaClient
  readonly #ingest: SagaIngestClient
  readonly #clone = mkdtempSync(join(tmpdir(), 'switchyard-clone-'))
  #firstCommit = ''
  #stopped = false
  #writing: Promise<void>[] = []

  private constructor(target: Written, kinds: Kind[]) {
    this.#target = target
    this.#client = new SagaClient(target.grpcAddress, credentials.createInsecure())
    this.#ingest = new SagaIngestClient(target.grpcAddress, credentials.createInsecure())
    this.journals = new Map(kinds.map((kind) => [kind, { acknowledged: [], times: [], errors: [] }]))
  }

  /** Creates the project `root/safe` and starts writing. */
  static async start(target: Written, kinds: Kind[]): Promise<AcknowledgedWrites> {
    const writes = new AcknowledgedWrites(target, kinds)
    await writes.#created('projects', { name: 'safe' })
    writes.#firstCommit = await writes.#commit('first')
    if (kinds.includes('pushes')) await writes.#cloneProject()
    writes.#writing = kinds.map((kind) => writes.#writeUntilStopped(kind))
    return writes
  }

  /** Returns whether each kind has had several acknowledgements since the counts were taken. */
  hasProgressedSince(counts: number[]): boolean {
    return this.counts().every((count, index) => count > (counts[index] ?? 0) + 5)
  }

  counts(): number[] {
    return [...this.journals.values()].map(({ times }) => times.length)
  }

  /** Stops writing, and checks that everything acknowledged is stored. */
  async stopAndExpectAll(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#writing)
    const kept = {
      commits: () => this.#listed(`${project}/repository/commits?ref_name=main`, 'id'),
      pushes: () => this.#listed(`${project}/repository/commits?ref_name=pushed`, 'id'),
      statuses: () =>
        this.#listed(`${project}/repository/commits/${this.#firstCommit}/statuses?all=true`, 'name'),
      sagas: () => this.#listed('sagas?service_name=e2e', 'saga_id'),
      batches: () => this.#listed('sagas?service_name=batches', 'saga_id'),
      httpBatches: () => this.#listed('sagas?service_name=http-batches', 'saga_id'),
    }
    for (const [kind, { acknowledged }] of this.journals) {
      const found = await kept[kind]()
      expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
    }
  }

  close(): void {
    this.#stopped = true
    this.#client.close()
    this.#ingest.close()
    rmSync(this.#clone, { recursive: true, force: true })
  }

  async #writeUntilStopped(kind: Kind): Promise<void> {
    const journal = this.journals.get(kind)
    for (let number = 1; journal && !this.#stopped; number += 1) {
      try {
        journal.acknowledged.push(...(await this.#write(kind, `${kind}-${number}`)))
        journal.times.push(performance.now())
        // Every saga is listed at the end, so the number of batches is limited.
        if (kind === 'batches' || kind === 'httpBatches') await delay(200)
      } catch (error) {
        journal.errors.push(error instanceof Error ? error.message : String(error))
        await delay(50)
      }
    }
  }

  /** Makes one write, or the writes of one batch, under a new name, and returns the acknowledged ones. */
  async #write(kind: Kind, name: string): Promise<string[]> {
    switch (kind) {
      case 'sagas':
        return [await this.#reportSaga(name)]
      case 'batches':
        return await this.#reportBatch(name)
      case 'httpBatches':
        return await this.#postBatch(name)
      case 'commits':
        return [await this.#commit(name)]
      case 'statuses':
        await this.#created(`${project}/statuses/${this.#firstCommit}`, { state: 'success', name })
        return [name]
      case 'pushes':
        return [await this.#push(name)]
    }
  }

  #ask(path: string, form?: { [name: string]: string }): Promise<Response> {
    return fetch(`${this.#target.url}/api/v4/${path}`, {
      method: form ? 'POST' : 'GET',
      headers: { 'PRIVATE-TOKEN': this.#target.rootToken },
      ...(form && { body: new URLSearchParams(form) }),
      signal: AbortSignal.timeout(10_000),
    })
  }

  async #created(path: string, form: { [name: string]: string }): Promise<{ id?: unknown }> {
    const response = await this.#ask(path, form)
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as { id?: unknown }
  }

  async #commit(name: string): Promise<string> {
    const { id } = await this.#created(`${project}/repository/commits`, {
      branch: 'main',
      commit_message: name,
      'actions[][action]': 'create',
      'actions[][file_path]': name,
      'actions[][content]': name,
    })
    return String(id)
  }

  #reportSaga(sagaId: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 10_000 }
      this.#client.sagaStarted({ sagaId, serviceName: 'e2e' }, new Metadata(), options, (error, response) => {
        if (error) return reject(error)
        if (response.isSuccess) return resolve(sagaId)
        reject(new Error('a fault of the service must never be reported to the caller as a refusal'))
      })
    })
  }

  async #reportBatch(batch: string): Promise<string[]> {
    const events = sagaIdsOf(batch).map((sagaId) =>
      ReportedEvent.fromPartial({ id: sagaId, sagaStarted: { sagaId, serviceName: 'batches' } }),
    )
    const { results } = await new Promise<ReportEventsResponse>((resolve, reject) => {
      const options = { deadline: Date.now() + 10_000 }
      this.#ingest.reportEvents({ events }, new Metadata(), options, (error, response) =>
        error ? reject(error) : resolve(response),
      )
    })
    const { EVENT_OUTCOME_RECORDED, EVENT_OUTCOME_DUPLICATE } = EventOutcome
    const stored = [EVENT_OUTCOME_RECORDED, EVENT_OUTCOME_DUPLICATE]
    return acknowledgedOf(
      batch,
      results.map(({ outcome }) => stored.includes(outcome)),
    )
  }

  async #postBatch(batch: string): Promise<string[]> {
    const events = sagaIdsOf(batch).map((saga_id) => ({
      operation: 'SagaStarted',
      event_id: saga_id,
      saga_id,
      service_name: 'http-batches',
    }))
    const response = await fetch(`${this.#target.url}/api/v4/saga_events`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': this.#target.rootToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ events }),
      signal: AbortSignal.timeout(10_000),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    const { results } = (await response.json()) as { results: { outcome: string }[] }
    return acknowledgedOf(
      batch,
      results.map(({ outcome }) => ['recorded', 'duplicate'].includes(outcome)),
    )
  }

  async #cloneProject(): Promise<void> {
    const address = new URL(`${this.#target.url}/root/safe.git`)
    address.username = 'root'
    address.password = this.#target.rootToken
    await this.#git('clone', '--quiet', address.href, '.')
    await this.#git('checkout', '--quiet', '-b', 'pushed')
  }

  async #push(name: string): Promise<string> {
    const identity = ['-c', 'user.name=e2e', '-c', 'user.email=e2e@example.com']
    await this.#git(...identity, 'commit', '--quiet', '--allow-empty', '--message', name)
    await this.#git('push', '--quiet', 'origin', 'pushed')
    return await this.#git('rev-parse', 'HEAD')
  }

  async #git(...args: string[]): Promise<string> {
    const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
    return (await execa('git', args, { cwd: this.#clone, env, timeout: 60_000 })).stdout
  }

  /** Returns one field of every item of a list. */
  async #listed(path: string, field: string): Promise<Set<unknown>> {
    const values = new Set<unknown>()
    let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}per_page=100`
    while (next !== undefined) {
      const response = await this.#ask(next)
      if (!response.ok) throw new Error(`${next} was answered ${response.status}`)
      for (const item of (await response.json()) as { [name: string]: unknown }[]) values.add(item[field])
      next = /api\/v4\/([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
    }
    return values
  }
}

/** Returns the sagas of a batch whose events were acknowledged. */
function acknowledgedOf(batch: string, isStored: boolean[]): string[] {
  const stored = sagaIdsOf(batch).filter((_, index) => isStored[index])
  if (stored.length === 0) throw new Error('no event of the batch was stored')
  return stored
}
