import { queryOptions, useQuery } from '@tanstack/react-query'
import { get } from '../../api/client'
import { MessageText } from '../../components/message-text'
import { Panel } from '../../components/page'
import { Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Banner } from '../../generated/types.gen'

export const activeBroadcastsQuery = queryOptions({
  queryKey: ['broadcasts', 'active'],
  queryFn: ({ signal }) => get<Banner[]>('/broadcast_messages/active', {}, signal),
  refetchInterval: 15_000,
})

/** The messages that all sites show now. */
export function BroadcastsNow({ mayManage }: { mayManage: boolean }) {
  const active = useQuery(activeBroadcastsQuery)
  return (
    <Panel name="Broadcasts" actions={mayManage && <TextLink to="/broadcasts">All broadcasts</TextLink>}>
      <Shown query={active}>
        {(messages) =>
          messages.length === 0 ? (
            <p className="text-quiet">No message is shown.</p>
          ) : (
            <ul className="divide-y">
              {messages.map(({ id, message, ends_at }) => (
                <li key={id} className="flex gap-3 py-1.5">
                  <span className="min-w-0 flex-1">
                    <MessageText text={message} />
                  </span>
                  <span className="text-sm text-quiet">
                    ends <Time at={ends_at} /> at the latest
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Panel>
  )
}
