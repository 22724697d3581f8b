import { Page } from '../../components/page'

export const SagaListPage = () => <Page title="SagaListPage" />
