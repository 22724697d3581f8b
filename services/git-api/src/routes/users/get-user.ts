import { findUser } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentProfile, presentWholeUser, userPageShape } from '../../presenters/user.js'

/** `GET /users/:id`: administrators and the user see everything, everybody else the profile. */
export const getUser = ({ database }: Dependencies) =>
  endpoint({
    summary: 'One user',
    replies: { 200: userPageShape },
    input: z.object({ id: rowId() }),
    async handle({ id }, caller: Caller, { baseUrl }: Call) {
      const user = await findUser(database, id)
      if (!user) throw notFound('User')
      const whole = caller.user.admin || caller.user.id === user.id
      return ok(whole ? presentWholeUser(user, baseUrl) : presentProfile(user, baseUrl))
    },
  })
