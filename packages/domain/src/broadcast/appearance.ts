/** A banner spans the top of a page; a notification is a small note. The names are those of GitLab. */
export const broadcastTypes = ['banner', 'notification'] as const

export type BroadcastType = (typeof broadcastTypes)[number]

/**
 * Background and text colour of each theme, with a contrast of at least 4.5 : 1. The names are those of
 * GitLab.
 */
export const themeColors = {
  indigo: { color: '#292961', font: '#FFFFFF' },
  'light-indigo': { color: '#F1F1FF', font: '#292961' },
  blue: { color: '#064787', font: '#FFFFFF' },
  'light-blue': { color: '#E9F3FC', font: '#064787' },
  green: { color: '#0E4328', font: '#FFFFFF' },
  'light-green': { color: '#ECF4EE', font: '#0E4328' },
  red: { color: '#8D1300', font: '#FFFFFF' },
  'light-red': { color: '#FCF1EF', font: '#8D1300' },
  dark: { color: '#28272D', font: '#FFFFFF' },
  light: { color: '#F0F0F0', font: '#28272D' },
} as const

export type BroadcastTheme = keyof typeof themeColors

export const broadcastThemes = Object.keys(themeColors) as [BroadcastTheme, ...BroadcastTheme[]]

export const broadcastDefaults = {
  color: '#E75E40',
  font: '#FFFFFF',
  broadcastType: 'banner',
  dismissable: false,
  targetPath: null,
  theme: 'indigo',
} as const satisfies Record<string, string | boolean | null>

interface Appearance {
  color: string
  font: string
  theme: string
}

/**
 * Returns the colours of a banner. Chosen colours take precedence. A theme applies when both colours are
 * blank or the defaults, because clients of GitLab send either colours or a theme.
 */
export function bannerColors({ color, font, theme }: Appearance): { color: string; font: string } {
  const chosen = !isDefault(color, broadcastDefaults.color) || !isDefault(font, broadcastDefaults.font)
  if (!chosen && theme !== broadcastDefaults.theme && isTheme(theme)) return themeColors[theme]
  return {
    color: color.trim() === '' ? broadcastDefaults.color : color,
    font: font.trim() === '' ? broadcastDefaults.font : font,
  }
}

const isDefault = (value: string, standard: string) =>
  value.trim() === '' || value.toLowerCase() === standard.toLowerCase()

const isTheme = (value: string): value is BroadcastTheme => Object.hasOwn(themeColors, value)
