import type { Registry } from 'prom-client';
import { readMetrics } from '#core/read-metrics.ts';
import type { VideoMembers } from './redis-video-members.ts';

export function observeVideoMembers(registry: Registry, members: Pick<VideoMembers, 'count'>): void {
  readMetrics(registry).gauge(
    'faregate_video_workers',
    'Processes that share the open videos, as this one knows them',
    () => members.count,
  );
}
