import { Page } from '../../components/page'

export const SettingsPage = () => <Page title="SettingsPage" />
