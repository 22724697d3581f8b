import { execaSync } from 'execa'

const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']

/** Makes an authority: `ca.pem` and `ca.key` in a folder. */
export function makeAuthority(folder: string): void {
  const files = ['-keyout', 'ca.key', '-out', 'ca.pem']
  execaSync('openssl', ['req', '-x509', ...key, '-subj', '/CN=Authority', ...files], { cwd: folder })
}

/** Makes a certificate with the authority in a folder, in the given files. */
export function makeCertificate(folder: string, names: string, certificate: string, keyFile: string): void {
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=${names}`]
  const files = ['-keyout', keyFile, '-out', certificate]
  execaSync('openssl', ['req', '-x509', ...key, '-subj', '/O=Acme', ...signed, ...files], { cwd: folder })
}
