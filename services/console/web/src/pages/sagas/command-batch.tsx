import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { segment, send } from '../../api/client'
import { useMay } from '../../api/session'
import { ActionDialog } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { Panel } from '../../components/page'
import { TextLink } from '../../components/text-link'
import type { DecidedSagaCommandBatch } from '../../generated/types.gen'
import { countOf } from '../../lib/format'
import { decisions } from './command-parts'

const offered = ['approve', 'deny', 'withdraw'] as const
type BatchDecision = (typeof offered)[number]

/** Decides about all commands that were asked for together. */
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
        <ActionDialog
          title={`${decisions[decision].name} all commands of the batch`}
          action={decisions[decision].name}
          run={() => decide(decision)}
          onClose={() => setDecision(undefined)}
        >
          <p>Commands whose state does not allow it any more stay as they are.</p>
        </ActionDialog>
      )}
    </Panel>
  )
}
