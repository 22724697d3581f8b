import type { Identity, User } from '@switchyard/db'
import { accessLevels, dayText } from '@switchyard/domain/access'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { MemberWithUser } from '../access/members/store.js'
import type { Setting, SettingValues } from './project-settings.js'

const text = (value: string | null): Setting => ({ kind: 'text', value })
const flag = (value: boolean): Setting => ({ kind: 'flag', value })

/** Profile fields that GitLab's clients write and every signed-in user reads. They are stored and shown. */
export const profileFields: Record<string, Setting> = {
  bio: text(''),
  location: text(null),
  linkedin: text(''),
  twitter: text(''),
  website_url: text(''),
  organization: text(null),
  job_title: text(''),
}

/** Profile fields that only administrators and the user read. */
export const accountFields: Record<string, Setting> = {
  note: text(null),
  private_profile: flag(false),
  can_create_group: flag(false),
}

/** Returns the values of profile fields from the stored ones. */
function shownFields(fields: Record<string, Setting>, stored: unknown): SettingValues {
  const given = stored as SettingValues
  return Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, given[name] ?? value]))
}

/** The columns of a user that every signed-in caller may read. */
type PublicUser = Pick<User, 'id' | 'username' | 'name' | 'state'>

export const userShape = z
  .object({
    id: z.int(),
    username: z.string(),
    public_email: z.null(),
    name: z.string(),
    state: z.string(),
    locked: z.boolean(),
    avatar_url: z.null(),
    web_url: link(),
  })
  .meta({ id: 'UserBasic', description: 'A user as part of another answer: authors, owners, members' })

const fieldShapes = (fields: Record<string, Setting>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { kind, value }]) => {
      if (kind === 'flag') return [name, z.boolean()]
      return [name, value === null ? z.string().nullable() : z.string()]
    }),
  )

const profileShape = z
  .object({
    ...userShape.shape,
    created_at: z.date(),
    ...fieldShapes(profileFields),
    bot: z.boolean(),
  })
  .meta({ id: 'UserProfile', description: 'The fields of a user that every signed-in user may see' })

export const wholeUserShape = z
  .object({
    ...profileShape.shape,
    email: z.string(),
    commit_email: z.string(),
    confirmed_at: z.date(),
    last_sign_in_at: z.null(),
    current_sign_in_at: z.null(),
    last_activity_on: z.null(),
    identities: z
      .array(z.object({ provider: z.string(), extern_uid: z.string() }))
      .meta({ description: 'Accounts at single sign-on providers' }),
    two_factor_enabled: z.boolean(),
    external: z.boolean(),
    ...fieldShapes(accountFields),
    can_create_project: z.boolean(),
    projects_limit: z.int(),
    theme_id: z.null(),
    color_scheme_id: z.null(),
    is_admin: z.boolean(),
  })
  .meta({ id: 'User', description: 'All fields of a user, for administrators and for that user' })

/** A user: all fields for administrators and for the user, the profile for other callers. */
export const userPageShape = z.union([wholeUserShape, profileShape])

/** Returns the short form of a user for other answers: authors, owners, members. */
export const presentUser = (user: PublicUser, baseUrl: string): z.output<typeof userShape> => ({
  id: user.id,
  username: user.username,
  public_email: null,
  name: user.name,
  state: user.state,
  locked: false,
  avatar_url: null,
  web_url: `${baseUrl}/${user.username}`,
})

/** Returns the fields of a user for every signed-in caller. */
export const presentProfile = (user: User, baseUrl: string): z.output<typeof profileShape> => ({
  ...presentUser(user, baseUrl),
  created_at: user.createdAt,
  ...shownFields(profileFields, user.profile),
  bot: user.bot,
})

/** Returns all fields of a user, for administrators and for the user. */
export const presentWholeUser = (
  user: User,
  identities: readonly Identity[],
  baseUrl: string,
): z.output<typeof wholeUserShape> => ({
  ...presentProfile(user, baseUrl),
  email: user.email,
  commit_email: user.email,
  confirmed_at: user.createdAt,
  last_sign_in_at: null,
  current_sign_in_at: null,
  last_activity_on: null,
  identities: identities.map(({ provider, subject }) => ({ provider, extern_uid: subject })),
  two_factor_enabled: false,
  external: false,
  ...shownFields(accountFields, user.profile),
  can_create_project: true,
  projects_limit: 100_000,
  theme_id: null,
  color_scheme_id: null,
  is_admin: user.admin,
})

export const accessLevelShape = z.int().meta({ enum: Object.values(accessLevels) })

export const memberShape = z
  .object({
    ...userShape.shape,
    access_level: accessLevelShape,
    created_at: z.date(),
    expires_at: z.string().meta({ format: 'date' }).nullable(),
    membership_state: z.string(),
  })
  .meta({ id: 'Member', description: 'A user, and what the membership adds' })

/** Returns the fields of the user, then the fields of the membership. */
export const presentMember = (
  { user, accessLevel, createdAt, expiresAt }: MemberWithUser,
  baseUrl: string,
): z.output<typeof memberShape> => ({
  ...presentUser(user, baseUrl),
  access_level: accessLevel,
  created_at: createdAt,
  expires_at: expiresAt && dayText(expiresAt),
  membership_state: 'active',
})
