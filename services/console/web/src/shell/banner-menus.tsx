import { Menu } from '@base-ui/react/menu'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { addressOf, segment, send } from '../api/client'
import { type SessionUser, sessionQuery, useSession } from '../api/session'
import { buttonClass } from '../components/button'
import { Problem } from '../components/states'
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

interface MenuProps {
  name: string
  icon: ReactNode
}

export function ThemeMenu({ name, icon }: MenuProps) {
  const choice = useThemeChoice()
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger aria-label={name} className={buttonClass('plain')}>
        {icon}
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

export function AccountMenu({ name, icon }: MenuProps) {
  const { user, provider } = useSession()
  if (!user) return null
  return <SignedInMenu user={user} provider={provider} name={name} icon={icon} />
}

function SignedInMenu({
  user,
  provider,
  name,
  icon,
}: MenuProps & { user: SessionUser; provider: string | undefined }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [problem, setProblem] = useState<unknown>()
  const signOut = async () => {
    try {
      await send('DELETE', '/session')
    } catch (error) {
      setProblem(error)
      return
    }
    // No data of this user may stay for the next one.
    client.clear()
    client.setQueryData(sessionQuery.queryKey, { user: null, scopes: [] })
    // A user who is still signed in at the provider would be signed in again without a question.
    if (provider !== undefined) location.assign(addressOf(`/sign_in/${segment(provider)}/sign_out`))
    else await navigate({ to: '/sign-in' })
  }
  return (
    <>
      {problem !== undefined && <Problem error={problem} />}
      <Menu.Root modal={false} defaultOpen>
        <Menu.Trigger aria-label={name} className={buttonClass('plain')}>
          {icon}
        </Menu.Trigger>
        <Popup>
          <Menu.Group>
            <Menu.GroupLabel className="px-3 py-1.5 text-sm">
              <span className="block font-medium" dir="auto">
                {user.name}
              </span>
              <span className="text-quiet">{user.username}</span>
            </Menu.GroupLabel>
            <Menu.Item className={item} onClick={() => void navigate({ to: '/account' })}>
              Your account
            </Menu.Item>
            <Menu.Item className={item} onClick={() => void signOut()}>
              Sign out
            </Menu.Item>
          </Menu.Group>
        </Popup>
      </Menu.Root>
    </>
  )
}
