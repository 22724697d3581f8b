import { isQueueOf } from '@switchyard/domain/queue-services'
import { Panel } from '../../components/page'
import { Empty } from '../../components/states'
import { QueueTable, queueRows } from '../queues/queue-table'
import { SourcesShown } from '../queues/sources-shown'
import { useSources } from '../queues/use-sources'

/** The queues of a service, live. */
export function ServiceQueues({ service }: { service: string }) {
  const found = useSources()
  return (
    <Panel name="Queues" flush>
      <SourcesShown found={found}>
        {(sources) => (
          <QueueTable
            rows={queueRows(sources).filter(({ source, name }) =>
              isQueueOf(service, { source, queue: name }),
            )}
            empty={
              <Empty title="No queue belongs to this service.">
                A queue does when its name, the beginning of its name up to a point, colon or slash, or the
                name of its source is that of the service.
              </Empty>
            }
          />
        )}
      </SourcesShown>
    </Panel>
  )
}
