import type { Setting, SettingValues } from './project-settings.js'

const text = (value: string | null): Setting => ({ kind: 'text', value })
const flag = (value: boolean): Setting => ({ kind: 'flag', value })

/** What GitLab's clients write about a user, and everybody signed in reads. It is kept and shown. */
export const profileFields: Record<string, Setting> = {
  bio: text(''),
  location: text(null),
  linkedin: text(''),
  twitter: text(''),
  website_url: text(''),
  organization: text(null),
  job_title: text(''),
}

/** The same, which administrators and the user read. */
export const accountFields: Record<string, Setting> = {
  note: text(null),
  private_profile: flag(false),
  can_create_group: flag(false),
}

/** The values of such fields, from what is stored of a user. */
export function shownFields(fields: Record<string, Setting>, stored: unknown): SettingValues {
  const given = stored as SettingValues
  return Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, given[name] ?? value]))
}
