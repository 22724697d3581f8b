import { Menu } from '@base-ui/react/menu'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { send } from '../api/client'
import { type SessionUser, sessionQuery } from '../api/session'
import { buttonClass } from '../components/button'
import { chooseTheme, type ThemeChoice, themeChoices, useThemeChoice } from '../lib/theme'

const item =
  'flex cursor-default items-center gap-2 rounded px-3 py-1.5 text-sm outline-hidden select-none data-highlighted:bg-raised'

const Popup = ({ children }: { children: ReactNode }) => (
  <Menu.Portal>
    <Menu.Positioner sideOffset={6} align="end" className="z-50 outline-hidden">
      <Menu.Popup className="min-w-44 rounded-lg border bg-panel p-1 text-ink shadow-lg outline-hidden">
        {children}
      </Menu.Popup>
    </Menu.Positioner>
  </Menu.Portal>
)

const themeNames: Record<ThemeChoice, string> = { light: 'Light', dark: 'Dark', system: 'System' }

export function ThemeMenu() {
  const choice = useThemeChoice()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger aria-label="Theme" className={buttonClass('plain')}>
        <svg viewBox="0 0 20 20" className="size-4" aria-hidden="true" fill="currentColor">
          <path d="M10 2a8 8 0 1 0 0 16V2Z" />
          <circle cx="10" cy="10" r="7.2" fill="none" stroke="currentColor" strokeWidth="1.6" />
        </svg>
      </Menu.Trigger>
      <Popup>
        <Menu.RadioGroup value={choice} onValueChange={chooseTheme}>
          {themeChoices.map((value) => (
            <Menu.RadioItem key={value} value={value} closeOnClick className={item}>
              <span className="w-4">
                <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
              </span>
              {themeNames[value]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Popup>
    </Menu.Root>
  )
}

export function AccountMenu({ user }: { user: SessionUser }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const signOut = async () => {
    await send('DELETE', '/session')
    // Nothing of this user stays for the next one.
    client.clear()
    client.setQueryData(sessionQuery.queryKey, { user: null, scopes: [] })
    await navigate({ to: '/sign-in' })
  }
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger aria-label="Account" className={buttonClass('plain')}>
        <svg viewBox="0 0 20 20" className="size-4" aria-hidden="true" fill="currentColor">
          <circle cx="10" cy="6.5" r="3.5" />
          <path d="M3 18a7 7 0 0 1 14 0Z" />
        </svg>
      </Menu.Trigger>
      <Popup>
        <Menu.Group>
          <Menu.GroupLabel className="px-3 py-1.5 text-sm">
            <span className="block font-medium" dir="auto">
              {user.name}
            </span>
            <span className="text-quiet">{user.username}</span>
          </Menu.GroupLabel>
          <Menu.Item className={item} onClick={() => void signOut()}>
            Sign out
          </Menu.Item>
        </Menu.Group>
      </Popup>
    </Menu.Root>
  )
}
