import { Button } from './button'
import { CopyButton } from './copy-button'
import { TextField } from './fields'
import { Modal, ModalActions } from './modal'

/** The secret of a new token, which the API sends only once. */
export function SecretDialog({
  name,
  user,
  secret,
  onClose,
}: {
  name: string
  user?: string
  secret: string
  onClose: () => void
}) {
  return (
    <Modal title={`Token ${name}`} onClose={onClose}>
      {user && <TextField label="User name" readOnly value={user} className="font-mono" />}
      <TextField
        label="Secret"
        readOnly
        value={secret}
        className="font-mono"
        hint="Copy it now: it is not shown again."
        onFocus={(event) => event.target.select()}
      />
      <ModalActions>
        <CopyButton label="Copy" text={() => secret} />
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </ModalActions>
    </Modal>
  )
}
