import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, segment, send } from '../../api/client'
import { useMay } from '../../api/session'
import { ActionDialog } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { Panel } from '../../components/page'
import { Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import type { DecidedSagaCommandBatch, SagaCommand } from '../../generated/types.gen'
import { countOf } from '../../lib/format'
import { decisions, nameOf, possible } from './command-parts'

const offered = ['approve', 'deny', 'withdraw'] as const
type BatchDecision = (typeof offered)[number]

const explainedAll: Record<BatchDecision, string> = {
  approve: 'Their orchestrators get them.',
  deny: 'No orchestrator gets them.',
  withdraw: 'No orchestrator gets them any more.',
}

/** Decides about all commands of a batch. */
export function BatchPanel({ tenant, batch }: { tenant: string | undefined; batch: string }) {
  const client = useQueryClient()
  const mayChange = useMay('sagas.change')
  const [decision, setDecision] = useState<BatchDecision>()
  const [done, setDone] = useState<DecidedSagaCommandBatch>()
  const decide = async (asked: BatchDecision) => {
    const address = `/sagas/commands/batches/${segment(batch)}/${asked}`
    setDone(await send<DecidedSagaCommandBatch>('POST', address, {}, { tenant }))
    await client.invalidateQueries({ queryKey: ['saga-commands'] })
    setDecision(undefined)
  }
  return (
    <Panel
      name="One batch"
      actions={
        mayChange &&
        offered.map((each) => (
          <Button key={each} onClick={() => setDecision(each)}>
            {decisions[each].name} all…
          </Button>
        ))
      }
    >
      <p role="status">
        {done
          ? `Changed ${countOf(done.decided, 'command')}; left ${done.left_out} as they were.`
          : 'These commands were asked for together.'}{' '}
        <TextLink to="/commands" search={{ tenant }} className="underline">
          All commands
        </TextLink>
      </p>
      {decision && (
        <BatchDialog
          tenant={tenant}
          batch={batch}
          decision={decision}
          run={() => decide(decision)}
          onClose={() => setDecision(undefined)}
        />
      )}
    </Panel>
  )
}

/** Shows the effect of a decision and the number of sagas, and makes it. */
function BatchDialog({
  tenant,
  batch,
  decision,
  run,
  onClose,
}: {
  tenant: string | undefined
  batch: string
  decision: BatchDecision
  run: () => Promise<void>
  onClose: () => void
}) {
  const { name } = decisions[decision]
  const query = useQuery({
    queryKey: ['saga-commands', tenant ?? '', '', 'batch', batch, decision],
    queryFn: async ({ signal }) => {
      const states = Object.keys(possible).filter((state) => possible[state]?.includes(decision))
      const pages = await Promise.all(
        states.map((state) =>
          getPage<SagaCommand>('/sagas/commands', { tenant, state, batch_id: batch, per_page: 1 }, signal),
        ),
      )
      const kind = pages.flatMap(({ rows }) => rows)[0]?.kind
      return { kind, count: pages.reduce((sum, { total }) => sum + (total ?? 0), 0) }
    },
  })
  return (
    <ActionDialog title={`${name} all commands of the batch`} action={name} run={run} onClose={onClose}>
      <Shown query={query}>
        {({ kind, count }) =>
          kind === undefined ? (
            <p>The batch has no command left whose state allows it.</p>
          ) : (
            <p>
              {nameOf(kind)}: {countOf(count, 'command')}, each for another saga. {explainedAll[decision]}{' '}
              Commands whose state does not allow it stay as they are.
            </p>
          )
        }
      </Shown>
    </ActionDialog>
  )
}
