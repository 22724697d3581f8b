import { Page } from '../../components/page'

export const OverviewPage = () => <Page title="OverviewPage" />
