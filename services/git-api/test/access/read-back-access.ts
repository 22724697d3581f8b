export type Fields = Record<string, unknown>

export interface Resource {
  /** The documented method and path that create the resource. */
  create: string
  update?: string
  /** Every documented body parameter, with a value that is not its default. */
  given: Fields
  /** The parameters of the change, with values that are not their defaults. */
  changed?: Fields
  /** Returns how parameters are shown that do not appear unchanged under their own name. */
  shown?: (given: Fields) => Fields
  /** Parameters that are not fields of the resource: options of the request, secrets, and aliases. */
  notShown?: string[]
  /** The field that identifies a resource in its address. */
  key?: string
  /** Set when there is no call for a single resource. */
  hasNoSingle?: true
  list?: string
}

const ann = {
  email: 'ann@example.com',
  username: 'ann',
  name: 'Ann',
  admin: true,
  bio: 'Writes',
  location: 'Here',
  linkedin: 'ann-l',
  twitter: 'ann-t',
  job_title: 'Editor',
  website_url: 'https://ann.example.com',
  organization: 'Press',
  note: 'New',
  private_profile: true,
  can_create_group: true,
}

const anne = {
  email: 'anne@example.com',
  username: 'anne',
  name: 'Anne',
  admin: false,
  bio: 'Reads',
  location: 'There',
  linkedin: 'anne-l',
  twitter: 'anne-t',
  job_title: 'Reader',
  website_url: 'https://anne.example.com',
  organization: 'Library',
  note: 'Old',
  private_profile: false,
  can_create_group: false,
}

/** Users, their own data, and tokens. `user` returns the id of a user. */
export const accessResources = (user: () => number): Record<string, () => Resource> => ({
  user: () => ({
    create: 'POST /users',
    update: 'PUT /users/{key}',
    given: ann,
    changed: anne,
    shown: ({ admin, ...others }) => ({ ...others, is_admin: admin }),
  }),
  'saved view': () => ({
    create: 'POST /saved_views',
    update: 'PUT /saved_views/{key}',
    given: { name: 'One', page: 'sagas', query: 'status=Error' },
    changed: { name: 'Two', page: 'sagas', query: 'status=Ended' },
  }),
  token: () => ({
    create: `POST /users/${user()}/personal_access_tokens`,
    given: {
      name: 'ci',
      description: 'Builds the shop',
      scopes: ['read_api'],
      expires_at: '2030-01-31',
      tenants: ['acme'],
    },
    list: `/personal_access_tokens?user_id=${user()}`,
    hasNoSingle: true,
  }),
  'project token': () => ({
    create: 'POST /projects/{id}/access_tokens',
    given: {
      name: 'ci',
      description: 'Builds the shop',
      scopes: ['read_api'],
      access_level: 20,
      expires_at: '2030-01-31',
    },
  }),
  'deploy token': () => ({
    create: 'POST /projects/{id}/deploy_tokens',
    given: {
      name: 'mirror',
      scopes: ['read_repository'],
      expires_at: '2030-01-31T10:00:00.000Z',
      username: 'mirror-user',
    },
  }),
  'trusted issuer': () => ({
    create: 'POST /projects/{id}/trusted_issuers',
    given: {
      name: 'releases',
      issuer: 'https://ci.example.com',
      audience: 'shop',
      scopes: ['read_api'],
      claims: { repository: 'acme/shop', ref: 'refs/tags/*' },
      access_level: 20,
      expires_at: '2030-01-31',
    },
  }),
  'trusted issuer outside of projects': () => ({
    create: 'POST /trusted_issuers',
    given: {
      name: 'sagas',
      issuer: 'https://ci.example.com',
      audience: 'sagas',
      scopes: ['saga_report'],
      claims: { repository: 'acme/shop' },
      tenants: ['acme'],
      expires_at: '2030-01-31',
    },
  }),
})
