import { Link, useRouterState } from '@tanstack/react-router'
import { type Area, mayUse, useSession } from '../api/session'

/**
 * The links of the navigation in order, with the area that a session needs for each. A link with `others` is
 * current on those pages, too.
 */
export const navigation = [
  { to: '/', name: 'Overview', area: undefined },
  { to: '/sagas', name: 'Sagas', area: 'sagas', others: ['/commands', '/bulk-jobs', '/saga-webhooks'] },
  { to: '/failures', name: 'Failures', area: 'sagas' },
  { to: '/projects', name: 'Projects', area: 'projects' },
  { to: '/services', name: 'Services', area: 'projects' },
  { to: '/broadcasts', name: 'Broadcasts', area: 'broadcasts' },
  { to: '/queues', name: 'Queues', area: 'queues' },
  { to: '/admin/users', name: 'Users', area: 'users' },
  { to: '/admin/tokens', name: 'Tokens', area: 'tokens' },
  { to: '/admin/audit', name: 'Audit log', area: 'audit' },
  { to: '/system', name: 'System', area: 'system' },
  { to: '/docs', name: 'Docs', area: undefined },
] as const satisfies { to: string; name: string; area: Area | undefined; others?: string[] }[]

/** @param onMove called when a link is followed */
export function MainNavigation({ onMove }: { onMove: () => void }) {
  const session = useSession()
  const path = useRouterState({ select: (state) => state.location.pathname })
  const isBelow = (to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`))
  return (
    <nav aria-label="Main">
      <ul className="flex flex-col gap-0.5 p-2">
        {navigation
          .filter(({ area }) => area === undefined || mayUse(session, area))
          .map(({ to, name, ...rest }) => (
            <li key={to}>
              <Link
                to={to}
                onClick={onMove}
                aria-current={
                  [to, ...('others' in rest ? rest.others : [])].some(isBelow) ? 'page' : undefined
                }
                className="block rounded-md px-3 py-1.5 text-sm hover:bg-raised aria-[current=page]:bg-accent-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent"
              >
                {name}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  )
}
