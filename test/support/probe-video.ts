import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findCommand } from '../services/run-command.ts';

export interface ProbedVideo {
  codec: string;
  container: string;
  seconds: number;
  /** Decoded one by one. */
  frames: number;
}

/** What ffmpeg's own reader makes of a file; or why it cannot be asked. `make browser` installs it. */
export async function probeVideo(path: string): Promise<ProbedVideo | { missing: string }> {
  const ffprobe = findCommand('ffprobe');
  if (ffprobe === null) return { missing: 'Videos are tried with `ffprobe`; `make browser` installs it.' };
  const show = 'format=format_name,duration:stream=codec_name,nb_read_frames';
  const args = ['-v', 'error', '-count_frames', '-show_entries', show, '-of', 'json', path];
  const { stdout } = await promisify(execFile)(ffprobe, args);
  const { streams, format } = JSON.parse(stdout);
  const [{ codec_name: codec, nb_read_frames: frames }] = streams;
  return { codec, container: format.format_name, seconds: Number(format.duration), frames: Number(frames) };
}
