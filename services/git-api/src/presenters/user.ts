import type { User } from '@switchyard/db'

/** The columns of a user that everybody signed in may read. */
export type PublicUser = Pick<User, 'id' | 'username' | 'name' | 'state'>

/** A user as part of another answer: authors, owners, members. */
export const presentUser = (user: PublicUser, baseUrl: string) => ({
  id: user.id,
  username: user.username,
  public_email: null,
  name: user.name,
  state: user.state,
  locked: false,
  avatar_url: null,
  web_url: `${baseUrl}/${user.username}`,
})

/** A user's own page, for everybody signed in. */
export const presentProfile = (user: User, baseUrl: string) => ({
  ...presentUser(user, baseUrl),
  created_at: user.createdAt,
  bio: '',
  location: null,
  linkedin: '',
  twitter: '',
  website_url: '',
  organization: null,
  job_title: '',
  bot: user.bot,
})

/** Everything about a user: for administrators and for the user. */
export const presentWholeUser = (user: User, baseUrl: string) => ({
  ...presentProfile(user, baseUrl),
  email: user.email,
  commit_email: user.email,
  confirmed_at: user.createdAt,
  last_sign_in_at: null,
  current_sign_in_at: null,
  last_activity_on: null,
  identities: [],
  two_factor_enabled: false,
  external: false,
  private_profile: false,
  can_create_group: false,
  can_create_project: true,
  projects_limit: 100_000,
  theme_id: null,
  color_scheme_id: null,
  is_admin: user.admin,
})
