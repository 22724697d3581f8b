import { Link, useRouterState } from '@tanstack/react-router'
import { mayUse, useSession } from '../api/session'
import { navigation } from './navigation'

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
