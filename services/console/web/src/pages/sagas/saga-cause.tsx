import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../components/page'
import type { FoundImpact, SagaDetail } from '../../generated/types.gen'
import { dayMs } from '../../lib/local-time.js'
import { BeganWith, foundImpactsQuery } from '../projects/deployments/began-with'
import { surestOfEach } from '../projects/deployments/impact-text'

const failed = ['compensated', 'inconsistent']

/** Those about a failure of the saga itself, or where there is none, about failures of its service. */
function aboutSaga(impacts: readonly FoundImpact[], fingerprints: readonly (string | null)[]): FoundImpact[] {
  const ofCause = impacts.filter(
    ({ fingerprint }) => fingerprint !== null && fingerprints.includes(fingerprint),
  )
  return ofCause.length > 0 ? ofCause : impacts.filter(({ measure }) => measure === 'failures')
}

/** The deployment with which the service of a failed saga became worse within the day before. */
export function SagaCause({ saga }: { saga: SagaDetail }) {
  const { tenant, service_name, status, outcome, last_event_at } = saga
  const hasFailed = status === 'Error' || failed.includes(outcome ?? '')
  const question = {
    tenant,
    service_name: service_name ?? undefined,
    began_after: new Date(Date.parse(last_event_at) - dayMs).toISOString(),
    began_before: last_event_at,
  }
  const query = useQuery({ ...foundImpactsQuery(question), enabled: hasFailed && service_name !== null })
  const fingerprints = saga.activities.map(({ error_fingerprint }) => error_fingerprint)
  const impacts = query.data ?? []
  const [found] = [impacts.filter(({ dismissed }) => !dismissed), impacts].flatMap((each) =>
    surestOfEach(aboutSaga(each, fingerprints)),
  )
  if (!found) return null
  return (
    <Panel name="Failures of its service">
      <BeganWith found={found} />
    </Panel>
  )
}
