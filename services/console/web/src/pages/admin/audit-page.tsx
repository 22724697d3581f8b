import { Page } from '../../components/page'

export const AuditPage = () => <Page title="AuditPage" />
