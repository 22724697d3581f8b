import { TextField } from './fields'

export const TokenField = () => (
  <TextField
    label="Access token"
    name="token"
    type="password"
    required
    autoFocus
    autoComplete="current-password"
    maxLength={255}
    hint="A token of any scopes. The browser does not keep it."
  />
)
