import type { z } from 'zod'
import type { Setting, SettingValues } from '../project-settings.js'
import { accountFields, profileFields } from '../user-profile.js'
import { refusedParameters, settingParameter } from './project-settings.js'

const fields = { ...profileFields, ...accountFields }

/** What GitLab's clients write about a user, and what Switchyard cannot do for users. */
export const userProfileParameters: Record<
  string,
  z.ZodType<Setting['value'] | undefined>
> = Object.fromEntries(
  Object.entries(fields).map(([name, { kind }]) => [
    name,
    settingParameter(kind, 'Kept and shown. Null: as at the beginning'),
  ]),
)

export const refusedUserParameters = refusedParameters({
  auditor: 'there are no auditors',
  avatar: 'users have no pictures',
  extern_uid: 'users sign in with tokens',
  external: 'every user sees internal projects',
  projects_limit: 'users may have any number of projects',
  provider: 'users sign in with tokens',
  saml_provider_id: 'users sign in with tokens',
  public_email: 'addresses are shown to administrators and the user only',
})

/** The fields of the profile that parameters change. */
export const profileOf = (given: Record<string, unknown>): SettingValues =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) =>
      given[name] === undefined ? [] : [[name, given[name] as Setting['value']]],
    ),
  )
