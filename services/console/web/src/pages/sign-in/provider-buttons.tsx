import { addressOf, segment } from '../../api/client'
import { Button } from '../../components/button'
import type { SignIn } from '../../generated/types.gen'

/** A button for each provider of single sign-on, which leads the browser there. */
export function ProviderButtons({ providers, next }: { providers: SignIn['providers']; next: string }) {
  return providers.map(({ name, label }) => (
    <div key={name} className="mb-3">
      <Button onClick={() => location.assign(addressOf(`/sign_in/${segment(name)}`, { next }))}>
        <span dir="auto">{label}</span>
      </Button>
    </div>
  ))
}

const taken = 'If it is yours, ask an administrator to link your account at the provider.'

/** Plain texts for the API's reasons to refuse a sign-in. */
const texts: Record<string, (provider: string) => string> = {
  unavailable: (provider) => `${provider} does not answer. Try again later, or sign in with a token.`,
  denied: (provider) => `The sign-in at ${provider} was canceled.`,
  other_browser: () => 'This sign-in took too long, or began in another browser or tab. Sign in again.',
  not_verified: (provider) =>
    `The answer of ${provider} cannot be verified. Sign in again, or ask an administrator.`,
  not_allowed: (provider) => `Your account at ${provider} may not come in here. Ask an administrator.`,
  blocked: () => 'This user is blocked. Ask an administrator.',
  no_account: (provider) =>
    `There is no user here for your account at ${provider}. Ask an administrator to make or link one.`,
  username_taken: () => `Your user name is taken, or cannot be used here. ${taken}`,
  email_taken: () => `Another user has your e-mail address. ${taken}`,
  identity_taken: (provider) => `Your account at ${provider} is linked to another user.`,
}

/** Returns why the sign-in was refused; undefined for an unknown reason. */
export const refusalText = (reason: string | undefined, provider = 'The provider'): string | undefined =>
  reason !== undefined && Object.hasOwn(texts, reason) ? texts[reason]?.(provider.slice(0, 64)) : undefined
