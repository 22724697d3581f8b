import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { get, send } from '../../../api/client'
import { ActionDialog, textOf } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { TextArea } from '../../../components/fields'
import { Panel } from '../../../components/page'
import { Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { ChangeFailure, Deployment } from '../../../generated/types.gen'
import { duration } from '../../../lib/format'
import { useMayChange } from '../project-data'

const refreshMs = 10_000

/** Whether a deployment counts as a change failure, and the report of a person about it. */
export function ChangeFailurePanel({ address, deployment }: { address: string; deployment: Deployment }) {
  const query = useQuery({
    queryKey: [address, 'change-failure'],
    queryFn: ({ signal }) => get<ChangeFailure>(`${address}/change_failure`, {}, signal),
    refetchInterval: refreshMs,
  })
  const mayReport = ['success', 'failed'].includes(deployment.status)
  return (
    <Panel
      name="Failed change"
      busy={query.isPending}
      actions={query.data && mayReport && <Report address={address} failure={query.data} />}
    >
      <Shown query={query}>{(failure) => <Verdict failure={failure} status={deployment.status} />}</Shown>
    </Panel>
  )
}

const reasonTexts: Record<ChangeFailure['reasons'][number], string> = {
  finding: 'something became worse with it',
  rolled_back: 'a later deployment took it back',
  reported: 'a person calls it a failure',
}

const nothingWrong =
  'No: nothing became worse with it that counts, it was not taken back, and nobody calls it a failure.'
/** Texts for a deployment that is not a change failure, by its status. */
const noFailure: Record<string, string> = {
  success: nothingWrong,
  failed: nothingWrong,
  canceled: 'No: it was canceled.',
}

function Verdict({
  failure: { failed, reasons, failed_at, restored_at, report },
  status,
}: {
  failure: ChangeFailure
  status: string
}) {
  if (!failed) return <p>{noFailure[status] ?? 'Not known before the deployment has ended.'}</p>
  return (
    <div className="grid gap-2">
      <p>
        <Badge tone="bad">failed change</Badge> {reasons.map((reason) => reasonTexts[reason]).join('; ')}.
      </p>
      {report && (
        <p>
          <bdi>{report.reason}</bdi>{' '}
          <span className="text-quiet">
            by <bdi>{report.user?.name ?? 'a deleted user'}</bdi>, <Time at={report.created_at} />
          </span>
        </p>
      )}
      {failed_at && (
        <p className="text-sm text-quiet">
          Since <Time at={failed_at} />
          {restored_at
            ? `, for ${duration(Math.max(0, Date.parse(restored_at) - Date.parse(failed_at)))}, until the figures were back or the next deployment had succeeded.`
            : `. It lasts: ${reasons.includes('finding') ? 'the figures are not back, and ' : ''}no deployment to the environment has succeeded since then.`}
        </p>
      )}
    </div>
  )
}

/** Lets a person report the deployment as a failure, and remove the report. */
function Report({ address, failure: { report } }: { address: string; failure: ChangeFailure }) {
  const client = useQueryClient()
  const mayChange = useMayChange('developer')
  const [isAsking, setIsAsking] = useState(false)
  if (!mayChange) return null
  const change = async (method: 'POST' | 'DELETE', body?: object) => {
    await send(method, `${address}/change_failure`, body)
    await client.invalidateQueries()
    setIsAsking(false)
  }
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>{report ? 'Take it back…' : 'It failed…'}</Button>
      {isAsking && !report && (
        <ActionDialog
          title="This deployment was a failed change"
          action="Say so"
          onClose={() => setIsAsking(false)}
          run={(form) => change('POST', { reason: textOf(form, 'reason') })}
        >
          <TextArea label="What failed" name="reason" required maxLength={1000} />
        </ActionDialog>
      )}
      {isAsking && report && (
        <ActionDialog
          title="This deployment was no failed change"
          action="Take it back"
          onClose={() => setIsAsking(false)}
          run={() => change('DELETE')}
        >
          <p>The reason that was given is removed. The audit log keeps it.</p>
        </ActionDialog>
      )}
    </>
  )
}
