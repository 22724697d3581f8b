/** Metrics that rules ask of programs of others, with the program. The trial `monitoring` finds those of Compose in it. */
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
