import { Link, useRouterState } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState, useSyncExternalStore } from 'react'
import { useSession } from '../api/session'
import { endedSession } from '../api/session-end'
import { Button } from '../components/button'
import { Loading } from '../components/states'
import { Announcements } from './announcements'
import { LateMenu } from './late-menu'
import { MainNavigation } from './main-navigation'
import { type Overlay, useShortcuts } from './use-shortcuts'

const loadMenus = () => import('./banner-menus')
const ThemeMenu = lazy(() => loadMenus().then(({ ThemeMenu }) => ({ default: ThemeMenu })))
const AccountMenu = lazy(() => loadMenus().then(({ AccountMenu }) => ({ default: AccountMenu })))
const CommandPalette = lazy(() =>
  import('./command-palette').then(({ CommandPalette }) => ({ default: CommandPalette })),
)
const ShortcutHelp = lazy(() =>
  import('./shortcut-help').then(({ ShortcutHelp }) => ({ default: ShortcutHelp })),
)
const SignInAgain = lazy(() =>
  import('./sign-in-again').then(({ SignInAgain }) => ({ default: SignInAgain })),
)

const searchIcon = (
  <svg viewBox="0 0 20 20" className="size-4 sm:hidden" aria-hidden="true">
    <path
      d="M13 13l5 5M14.5 8.5a6 6 0 1 1-12 0 6 6 0 0 1 12 0Z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
    />
  </svg>
)

const themeIcon = (
  <svg viewBox="0 0 20 20" className="size-4" aria-hidden="true" fill="currentColor">
    <path d="M10 2a8 8 0 1 0 0 16V2Z" />
    <circle cx="10" cy="10" r="7.2" fill="none" stroke="currentColor" strokeWidth="1.6" />
  </svg>
)

const accountIcon = (
  <svg viewBox="0 0 20 20" className="size-4" aria-hidden="true" fill="currentColor">
    <circle cx="10" cy="6.5" r="3.5" />
    <path d="M3 18a7 7 0 0 1 14 0Z" />
  </svg>
)

/** The frame of every page: banner, navigation, announcements, and the dialogs that keys open. */
export function Shell({ children }: { children: ReactNode }) {
  const { user } = useSession()
  const hasSessionEnded = useSyncExternalStore(endedSession.subscribe, endedSession.get)
  const [overlay, setOverlay] = useState<Overlay>()
  const [menuPath, setMenuPath] = useState<string>()
  const path = useRouterState({ select: (state) => state.location.pathname })
  // The menu of narrow screens closes with the next page.
  const isMenuOpen = menuPath === path
  useShortcuts({ onOpen: setOverlay, enabled: user !== null })
  // A dialog reports its end a little later than it disappears, when a key may already have opened another
  // one.
  const close = (ended: Overlay) => setOverlay((shown) => (shown === ended ? undefined : shown))
  return (
    <div className="min-h-dvh">
      <a
        href="#content"
        className="absolute -top-20 left-2 z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:top-2"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-30 flex min-h-13 flex-wrap items-center gap-2 border-b bg-panel px-4 py-2">
        {user && (
          <Button
            className="lg:hidden"
            aria-expanded={isMenuOpen}
            aria-controls="main-navigation"
            onClick={() => setMenuPath(isMenuOpen ? undefined : path)}
          >
            Menu
          </Button>
        )}
        <Link to="/" className="flex items-center gap-2 font-semibold">
          <img src="/console/icon.svg" alt="" width="22" height="22" />
          <span className="hidden sm:inline">Switchyard</span>
          <span className="sr-only sm:hidden">Switchyard</span>
        </Link>
        <span className="flex-1" />
        {user && (
          <Button onClick={() => setOverlay('palette')}>
            <span className="sr-only text-quiet sm:not-sr-only">Go to…</span>
            {searchIcon}
            <kbd className="hidden font-sans text-xs text-quiet sm:inline">Ctrl K</kbd>
          </Button>
        )}
        <LateMenu name="Theme" icon={themeIcon} load={loadMenus} Menu={ThemeMenu} />
        {user && (
          <LateMenu key={user.id} name="Account" icon={accountIcon} load={loadMenus} Menu={AccountMenu} />
        )}
      </header>
      <Announcements />
      <div className="mx-auto flex max-w-400">
        {user && (
          <div
            id="main-navigation"
            className={`${isMenuOpen ? 'fixed inset-x-0 top-13 z-20 block border-b bg-panel shadow-lg' : 'hidden'} shrink-0 lg:sticky lg:top-13 lg:z-auto lg:block lg:h-fit lg:w-48 lg:border-0 lg:bg-transparent lg:shadow-none`}
          >
            <MainNavigation onMove={() => setMenuPath(undefined)} />
          </div>
        )}
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 p-4 outline-hidden lg:p-6">
          <Suspense fallback={<Loading />}>{children}</Suspense>
        </main>
      </div>
      <Suspense>
        {overlay === 'palette' && <CommandPalette onClose={() => close('palette')} />}
        {hasSessionEnded && <SignInAgain />}
        {overlay === 'help' && <ShortcutHelp onClose={() => close('help')} />}
      </Suspense>
    </div>
  )
}
