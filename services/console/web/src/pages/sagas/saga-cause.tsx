import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../components/page'
import type { FoundImpact, SagaDetail } from '../../generated/types.gen'
import { dayMs } from '../../lib/local-time'
import { BeganWith, foundImpactsQuery } from '../projects/deployments/began-with'
import { surestOfEach } from '../projects/deployments/impact-text'

const failed = ['compensated', 'inconsistent']

type Fingerprints = readonly (string | null)[]

/**
 * Returns the most certain finding about a failure of the saga itself, otherwise about failures of its
 * service.
 */
function surestOf(impacts: readonly FoundImpact[], fingerprints: Fingerprints): FoundImpact | undefined {
  const ofCause = impacts.filter(
    ({ fingerprint }) => fingerprint !== null && fingerprints.includes(fingerprint),
  )
  const ofService = impacts.filter(({ measure }) => measure === 'failures')
  return surestOfEach(ofCause.length > 0 ? ofCause : ofService)[0]
}

/** The deployment that made the service of a failed saga worse within the day before. */
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
  // A dismissed deployment is shown only without another one.
  const undismissed = impacts.filter(({ dismissed }) => !dismissed)
  const found = surestOf(undismissed, fingerprints) ?? surestOf(impacts, fingerprints)
  if (!found) return null
  return (
    <Panel name="Failures of its service">
      <BeganWith found={found} />
    </Panel>
  )
}
