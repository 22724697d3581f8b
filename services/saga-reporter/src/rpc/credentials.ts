import { senderAddress } from '@switchyard/service-kit/http'
import type { Credentials } from '../access/authorize.js'
import { addressOf, tokenHeaders } from '../wire/metadata.js'
import type { ArrivedCall } from './server/admission.js'

/** What a call says about its sender. */
export const credentialsOf = ({ metadata, getAuthContext }: ArrivedCall): Credentials => ({
  headers: tokenHeaders(metadata),
  address: senderAddress(addressOf(metadata)),
  getCertificate: () => getAuthContext().sslPeerCertificate,
})
