import { Page } from '../../components/page'

export const DeploymentsPage = () => <Page title="DeploymentsPage" />
