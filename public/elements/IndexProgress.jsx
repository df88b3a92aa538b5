import { useEffect, useState } from 'react';
import { AlertTriangle, CheckCircle2, GitBranch, Loader2, RefreshCw, RotateCcw, Square, X } from 'lucide-react';

const ICONS = { cancel: X, stop: Square, retry: RotateCcw, update: RefreshCw, reindex: RotateCcw };
const ACTIONS = { cancel: 'opening_stop', stop: 'opening_stop', reindex: 'opening_reindex' };

function Bar({ percent }) {
  return (
    <div className="rp-bar" role="progressbar" aria-valuenow={percent ?? undefined} aria-valuemin="0" aria-valuemax="100">
      <div className={percent == null ? 'rp-bar-fill rp-bar-moving' : 'rp-bar-fill'} style={percent == null ? {} : { width: `${percent}%` }} />
    </div>
  );
}

function Badge({ badge }) {
  return (
    <details className="rp-badge">
      <summary>
        <CheckCircle2 size={16} className="rp-good" />
        <span className="rp-badge-text">{badge.text}</span>
        <span className={badge.complete ? 'rp-chip' : 'rp-chip rp-chip-soft'}>{badge.dense}</span>
      </summary>
      <div className="rp-badge-body">
        <div>{badge.facts}</div>
        {badge.notes.map((note) => <div key={note} className="rp-warn">⚠ {note}</div>)}
        <div>{badge.skipped}</div>
        {badge.skips.length > 0 && (
          <ul>
            {badge.skips.map((skip) => (
              <li key={skip.reason}>
                <details className="rp-skips">
                  <summary><b>{skip.count}</b> {skip.reason} <span className="rp-muted">{skip.paths.slice(0, 3).join(', ')}{skip.paths.length > 3 && ' …'}</span></summary>
                  <ul>
                    {skip.paths.map((path) => <li key={path}><code>{path}</code></li>)}
                    {skip.more && <li className="rp-muted">{skip.more}</li>}
                  </ul>
                </details>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}

function Asking({ estimate, openingKey, words, act }) {
  const [chosen, setChosen] = useState([]);
  const toggle = (name) => setChosen(chosen.includes(name) ? chosen.filter((n) => n !== name) : [...chosen, name]);
  return (
    <div className="rp-asking">
      <p>{estimate.text}</p>
      <div className="rp-folders">
        {estimate.folders.map((folder) => (
          <label key={folder.label} className={folder.name ? '' : 'rp-muted'}>
            <input type="checkbox" disabled={!folder.name} checked={chosen.includes(folder.name)} onChange={() => toggle(folder.name)} />
            <code>{folder.label}</code>
            <span className="rp-muted">{folder.lines}</span>
          </label>
        ))}
        {estimate.more && <span className="rp-muted">{estimate.more}</span>}
      </div>
      <div className="rp-row">
        <button className="rp-button rp-primary" onClick={() => act('opening_confirm', { key: openingKey, only: [] })}>{words.index_all}</button>
        <button className="rp-button" disabled={!chosen.length} onClick={() => act('opening_confirm', { key: openingKey, only: chosen })}>
          {chosen.length ? words.index_some.replace('{folders}', chosen.join(', ')) : words.index_chosen}
        </button>
        <button className="rp-button" onClick={() => act('opening_stop', { key: openingKey })}>{words.not_now}</button>
      </div>
    </div>
  );
}

function Token({ openingKey, host, refused, words, act }) {
  const [token, setToken] = useState('');
  const submit = (event) => {
    event.preventDefault();
    act('opening_token', { key: openingKey, token });
    setToken('');
  };
  return (
    <form className="rp-row" onSubmit={submit}>
      <input type="password" autoComplete="off" aria-label={words.token} placeholder={words.token} className="rp-input"
        value={token} onChange={(e) => setToken(e.target.value)} />
      <button className="rp-button rp-primary" disabled={!token}>{words.try_token}</button>
      {refused && <span className="rp-warn">{words.token_refused}</span>}
      <span className="rp-muted">{words.token_note.replace('{host}', host)}</span>
    </form>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const IndexProgress = (window.repopilotIndexProgress ||= function ({ props, callAction }) {
  const [failed, setFailed] = useState('');
  const act = async (name, payload) => {
    const result = await callAction({ name, payload });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
  };

  // The address of the page names the open repository, the conversation and the chosen language, so that a reload restores them.
  useEffect(() => {
    if (!props.thread || (!props.answerable && props.phase === 'failed')) return;
    const url = new URL(window.location.href);
    if (url.pathname !== '/') return;
    const before = url.search;
    url.search = '';
    url.searchParams.set('repo', props.address);
    url.searchParams.set('chat', props.thread);
    if (props.language) url.searchParams.set('lang', props.language);
    if (url.search !== before) window.history.replaceState(window.history.state, '', url);
  }, [props.address, props.thread, props.language]);

  const busy = props.phase === 'cloning' || props.phase === 'indexing';
  const wrong = props.phase === 'failed' || props.phase === 'credentials';
  const Icon = busy ? Loader2 : wrong ? AlertTriangle : GitBranch;
  return (
    <section className="rp-card" data-phase={props.phase} data-answerable={props.answerable} aria-live="polite">
      <div className="rp-head">
        <Icon size={18} className={busy ? 'rp-spin' : wrong ? 'rp-bad' : 'rp-muted'} />
        <strong className="rp-title">{props.title}</strong>
        {props.percent != null && <span className="rp-muted rp-number">{props.words.percent.replace('{percent}', props.percent)}</span>}
        <span className="rp-grow" />
        {props.buttons.map((name) => {
          const ButtonIcon = ICONS[name];
          return (
            <button key={name} className="rp-button" onClick={() => act(ACTIONS[name] || 'opening_retry', { key: props.key })}>
              <ButtonIcon size={14} /> {props.words[name]}
            </button>
          );
        })}
      </div>
      {busy && <Bar percent={props.percent} />}
      {props.detail && <div className="rp-muted rp-number rp-detail">{props.detail}</div>}
      {props.error && <div className={wrong ? 'rp-error' : 'rp-warn'}><div>{props.error.message}</div>{props.error.hint && <div className="rp-muted">{props.error.hint}</div>}</div>}
      {props.moved && <div className="rp-warn">{props.moved}</div>}
      {props.stale && <div className="rp-warn">⚠ {props.stale}</div>}
      {failed && <div className="rp-error">{failed}</div>}
      {props.phase === 'credentials' && <Token host={props.host} openingKey={props.key} refused={props.refused} words={props.words} act={act} />}
      {props.estimate && <Asking estimate={props.estimate} openingKey={props.key} words={props.words} act={act} />}
      {props.typed_token && (
        <div className="rp-row rp-tight rp-muted">
          <span>{props.words.token_kept.replace('{host}', props.host)}</span>
          <button className="rp-button" onClick={() => act('opening_forget', { key: props.key })}>{props.words.forget}</button>
        </div>
      )}
      {props.badge && <Badge badge={props.badge} />}
      {props.model && props.model.state !== 'ok' && (
        <div className="rp-status" data-state={props.model.state}>
          {props.model.state === 'busy' ? <Loader2 size={14} className="rp-spin" /> : <span className="rp-dot" />}
          <span>{props.model.text}</span>
        </div>
      )}
    </section>
  );
});

export default <IndexProgress props={props} callAction={callAction} />;
