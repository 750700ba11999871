import { beforeEach, inject } from 'vitest';
import './shared-cluster.ts';

// Skipped, so that CI counts it: without a cluster these tests would pass on the embedded shape once more.
if (inject('cluster') === undefined) beforeEach(({ skip }) => skip());
