import { Page } from '../../components/page'

export const BroadcastsPage = () => <Page title="BroadcastsPage" />
