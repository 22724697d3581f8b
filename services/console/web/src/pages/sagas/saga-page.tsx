import { Page } from '../../components/page'

export const SagaPage = () => <Page title="SagaPage" />
