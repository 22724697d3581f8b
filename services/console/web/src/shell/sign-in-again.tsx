import { useQueryClient } from '@tanstack/react-query'
import { ApiError, send } from '../api/client'
import { type Session, sessionQuery, useSession } from '../api/session'
import { endedSession } from '../api/session-end'
import { ActionDialog, textOf } from '../components/action-dialog'
import { TokenField } from '../components/token-field'

/** Signs in on top of a page with unsaved input, so that it is not lost with the session. */
export function SignInAgain() {
  const client = useQueryClient()
  const { user } = useSession()
  const close = () => endedSession.set(false)
  const signIn = async (form: FormData) => {
    const session = await send<Session>('POST', '/session', { token: textOf(form, 'token') })
    if (session.user?.id !== user?.id) {
      // The content of the page belongs to the former user.
      await send('DELETE', '/session')
      throw new ApiError(403, `This page belongs to ${user?.username}. Sign in with a token of that user.`)
    }
    client.setQueryData(sessionQuery.queryKey, session)
    close()
    await client.invalidateQueries()
  }
  return (
    <ActionDialog title="Sign in again" action="Sign in" run={signIn} onClose={close}>
      <p className="mb-3">Your session has ended. What you have typed is still on the page behind.</p>
      <TokenField />
    </ActionDialog>
  )
}
