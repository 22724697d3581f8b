import { useSyncExternalStore } from 'react'

export const themeChoices = ['light', 'dark', 'system'] as const
export type ThemeChoice = (typeof themeChoices)[number]

/** Key of the chosen theme. theme.js reads it before the first paint. */
const key = 'switchyard-theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

const stored = (): ThemeChoice => {
  const value = localStorage.getItem(key)
  return value === 'light' || value === 'dark' ? value : 'system'
}

function apply(): void {
  const choice = stored()
  const dark = choice === 'system' ? systemIsDark.matches : choice === 'dark'
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

systemIsDark.addEventListener('change', apply)
// Another tab of the console has changed the choice.
addEventListener('storage', (event) => {
  if (event.key === key) apply()
})

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, choice)
  apply()
}

export const useThemeChoice = (): ThemeChoice =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, stored)
