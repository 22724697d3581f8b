import { type Caller, scopes } from '@switchyard/domain/access'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'

export const sessionShape = z
  .object({
    user: z.object({ id: z.int(), username: z.string(), name: z.string(), is_admin: z.boolean() }),
    scopes: z.array(oneOf(scopes)),
    expires_at: z.date().meta({ description: 'The session ends then at the latest' }),
  })
  .meta({
    id: 'Session',
    description: 'The session of a browser, with the rights of the token that it began with',
  })

const noSessionShape = z
  .object({ user: z.null(), scopes: z.array(oneOf(scopes)).max(0) })
  .meta({ id: 'NoSession', description: 'The browser is not signed in' })

export const sessionOrNoneShape = z.union([sessionShape, noSessionShape])

export const presentSession = (
  { user, token }: Caller,
  { expiresAt }: { expiresAt: Date },
): z.output<typeof sessionShape> => ({
  user: { id: user.id, username: user.username, name: user.name, is_admin: user.admin },
  scopes: [...token.scopes],
  expires_at: expiresAt,
})

export const noSession: z.output<typeof noSessionShape> = { user: null, scopes: [] }
