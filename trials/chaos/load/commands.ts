import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programEnvironment } from '@switchyard/testing'
import { supervise } from '../../../packages/local-servers/src/process/supervised-process.js'
import type { Installation } from '../installation/installation.js'
import type { Api } from './api.js'
import { createWriter, type Writer } from './writer.js'

export type Orchestrators = ReturnType<typeof startOrchestrators>

const main = join(import.meta.dirname, 'orchestrator-process.ts')

/** Starts an orchestrator for each reporter; one that ends is started again. */
export function startOrchestrators({ folder, servicesOf }: Installation) {
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const processes = servicesOf('saga-reporter').map(({ grpcAddress, machine }) =>
    supervise({
      command: process.execPath,
      args: ['--import', 'tsx', main],
      name: `orchestrator ${machine}`,
      env: { ...programEnvironment(), ADDRESS: grpcAddress, EFFECTS: effects },
      logFile: join(folder, 'logs', `orchestrator-${machine}.log`),
    }),
  )
  /** Returns how often each command was begun, and how often it had its effect. */
  const counts = () => {
    const [begun, done] = [new Map<string, number>(), new Map<string, number>()]
    for (const [, word, id = ''] of readFileSync(effects, 'utf8').matchAll(/^(begun|done) (.+)$/gm)) {
      const counted = word === 'begun' ? begun : done
      counted.set(id, (counted.get(id) ?? 0) + 1)
    }
    return { begun, done }
  }
  return {
    counts,
    /** Returns whether an orchestrator has begun a command whose effect has not happened. */
    isAtWork() {
      const { begun, done } = counts()
      return [...begun.keys()].at(-1) !== [...done.keys()].at(-1)
    },
    killHard() {
      for (const each of processes) {
        const pid = each.pid()
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
      }
    },
    stop: () => Promise.all(processes.map((each) => each.stop())),
  }
}

/** Returns an operator who requests commands for one saga after the other. */
export const commands = (api: Api): Writer =>
  createWriter('commands', 100, (ledger) => ({
    async write(number) {
      const sagaId = `commanded-${number}`
      const about = { tenant: 'commands', saga_id: sagaId, service_name: 'commanded' }
      await api.post('saga_events', { events: [{ operation: 'SagaStarted', event_id: sagaId, ...about }] })
      ledger.begin(sagaId)
      const wish = { tenant: 'commands', kind: 'cancel', reason: 'chaos' }
      const { id } = await api.post<{ id: string }>(`sagas/${sagaId}/commands`, wish)
      ledger.acknowledge(sagaId, id)
    },
    read: async () =>
      (await listCommands(api)).map(({ saga_id, id }) => [String(saga_id), String(id)] as const),
  }))

export const listCommands = (api: Api) => api.list('sagas/commands?tenant=commands')

/**
 * @returns wrong commands: those that are open, had two effects, or an effect that contradicts their state
 */
export async function findWrongCommands(api: Api, orchestrators: Orchestrators): Promise<string[]> {
  const shown = await listCommands(api)
  const { done } = orchestrators.counts()
  const known = new Set(shown.map(({ id }) => String(id)))
  const wrong = shown.flatMap(({ id, state }) => {
    const effects = done.get(String(id)) ?? 0
    const isRight = state === 'succeeded' ? effects === 1 : state === 'unknown' && effects <= 1
    return isRight ? [] : [`the command ${id} is ${state} and had ${effects} effects`]
  })
  const strange = [...done.keys()].filter((id) => !known.has(id))
  const succeeded = shown.filter(({ state }) => state === 'succeeded').length
  return [
    ...wrong,
    ...strange.map((id) => `the command ${id} had an effect and is not there`),
    ...(succeeded > 0 ? [] : ['no command has succeeded']),
  ]
}
