import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

export interface Rule {
  /** Name of the alert; undefined for a recording rule. */
  alert?: string
  record?: string
  expr: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

const folder = resolve(import.meta.dirname, '../../prometheus')

export const ruleFiles = readdirSync(folder)
  .filter((name) => name.endsWith('.rules.yml'))
  .map((name) => join(folder, name))

export const rules: Rule[] = ruleFiles.flatMap((file) => {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap((group) => group.rules)
})

export const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined)

/** Metrics in rules that no service of Switchyard has, by name, with the program that has each. */
export const exporterMetrics = new Map([
  ['switchyard_backup_cut_timestamp_seconds', 'node_exporter, from the file of the backup'],
  ['node_filesystem_avail_bytes', 'node_exporter'],
  ['node_filesystem_size_bytes', 'node_exporter'],
  ['up', 'Prometheus'],
  ['redis_up', 'redis_exporter'],
  ['redis_memory_used_bytes', 'redis_exporter'],
  ['redis_memory_max_bytes', 'redis_exporter'],
  ['pg_up', 'postgres_exporter'],
  ['pg_stat_replication_pg_wal_lsn_diff', 'postgres_exporter'],
  ['pg_stat_user_tables_n_live_tup', 'postgres_exporter'],
  ['probe_success', 'blackbox_exporter'],
  ['probe_ssl_earliest_cert_expiry', 'blackbox_exporter'],
  ['kube_cronjob_status_last_successful_time', 'kube-state-metrics'],
  ['kubelet_volume_stats_available_bytes', 'the kubelet'],
  ['kubelet_volume_stats_capacity_bytes', 'the kubelet'],
])
