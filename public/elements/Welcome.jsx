import { useEffect, useState } from 'react';
import { ArrowRight, Cloud, FolderGit2, Loader2, Trash2, UserRoundPlus, UsersRound } from 'lucide-react';

// The key lives in this form's state until it is sent once; the server keeps it in memory.
function Hosted({ hosted, words, callAction }) {
  const [open, setOpen] = useState(false);
  const [fields, setFields] = useState({ url: '', key: '', model: '' });
  const [models, setModels] = useState([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const set = (name) => (event) => {
    setFields({ ...fields, [name]: event.target.value });
    if (name !== 'model') setModels([]);
  };
  const send = async (payload) => {
    setBusy(true);
    const result = await callAction({ name: 'use_hosted', payload });
    const answer = result?.response;
    setBusy(false);
    setError(answer?.error || (result?.success ? '' : words.no_answer));
    setModels(answer?.models || (answer?.error ? models : []));
    if (!result?.success || answer?.error || answer?.models) return;
    setFields({ url: '', key: '', model: '' });
    setOpen(false);
  };
  const submit = (event) => {
    event.preventDefault();
    send({ ...fields, model: models.length ? fields.model : '' });
  };
  if (!open) {
    return (
      <div className="rp-row rp-tight">
        {hosted.used
          ? <button className="rp-button" disabled={busy} onClick={() => send({ url: '' })}>{words.hosted_end}</button>
          : <button className="rp-button" onClick={() => setOpen(true)}><Cloud size={14} /> {words.hosted}</button>}
        {error && <div className="rp-error" role="alert">{error}</div>}
      </div>
    );
  }
  return (
    <form className="rp-card rp-hosted" onSubmit={submit} aria-label={words.hosted}>
      <label>{words.hosted_address}
        <input className="rp-input" type="url" required list="rp-services" placeholder={hosted.services[0]} value={fields.url} onChange={set('url')} spellCheck="false" autoFocus />
      </label>
      <datalist id="rp-services">{hosted.services.map((each) => <option key={each} value={each} />)}</datalist>
      <label>{words.hosted_key}
        <input className="rp-input" type="password" autoComplete="off" value={fields.key} onChange={set('key')} />
      </label>
      {models.length > 0 && (
        <label>{words.hosted_model}
          <input className="rp-input" required list="rp-models" value={fields.model} onChange={set('model')} spellCheck="false" autoFocus />
        </label>
      )}
      <datalist id="rp-models">{models.map((each) => <option key={each} value={each} />)}</datalist>
      <div className="rp-note">{words.hosted_leaves}</div>
      <div className="rp-muted rp-note">{words.hosted_kept}</div>
      {error && <div className="rp-error" role="alert">{error}</div>}
      <div className="rp-row">
        <button className="rp-button rp-primary" disabled={busy}>
          {busy && <Loader2 size={14} className="rp-spin" />} {models.length ? words.hosted_use : words.hosted_check}
        </button>
        <button type="button" className="rp-button" onClick={() => setOpen(false)}>{words.cancel}</button>
      </div>
    </form>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const HostedForm = (window.repopilotHosted ||= Hosted);
const Welcome = (window.repopilotWelcome ||= function ({ props, callAction, sendUserMessage }) {
  const { words } = props;
  const [text, setText] = useState('');

  // The address of the page names the chosen language, so that a reload restores it.
  useEffect(() => {
    const url = new URL(window.location.href);
    if (url.pathname !== '/' || (url.searchParams.get('lang') || '') === props.language) return;
    if (props.language) url.searchParams.set('lang', props.language);
    else url.searchParams.delete('lang');
    window.history.replaceState(window.history.state, '', url);
  }, [props.language]);

  const [asked, setAsked] = useState('');
  const [failed, setFailed] = useState('');
  const change = async (name, address) => {
    const result = await callAction({ name, payload: { address } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    setAsked('');
  };
  const open = (event) => {
    event.preventDefault();
    if (text.trim()) sendUserMessage(text.trim(), 'open');
  };
  return (
    <section className="rp-welcome">
      <div className="rp-brand">RepoPilot</div>
      <h1>{words.title}</h1>
      <p className="rp-lead">{words.lead}</p>
      <form className="rp-row rp-open" onSubmit={open}>
        <input className="rp-input rp-grow" value={text} onChange={(e) => setText(e.target.value)} aria-label={words.repository}
          placeholder={words.placeholder} spellCheck="false" />
        <button className="rp-button rp-primary" disabled={!text.trim()}>{words.open} <ArrowRight size={15} /></button>
      </form>
      {props.offer && (
        <div className="rp-warn rp-row">
          <span>{words.offer} <code>{props.offer}</code></span>
          <button className="rp-button" onClick={() => sendUserMessage(props.offer, 'open')}>{words.open_offer}</button>
        </div>
      )}
      {props.recent.length > 0 && (
        <ul className="rp-known">
          {props.recent.map((entry) => (
            <li key={entry.address} className="rp-row rp-tight">
              <button className="rp-button rp-round" disabled={entry.gone} title={entry.address} onClick={() => sendUserMessage(entry.address, 'open')}>
                <FolderGit2 size={14} /> {entry.name}{entry.status ? <span className="rp-muted"> · {entry.status}</span> : null}
              </button>
              <span className="rp-muted rp-detail rp-grow">{entry.facts}</span>
              {props.logins && entry.own && (
                <button className="rp-icon-button" aria-label={entry.shared ? words.unshare : words.share}
                  title={entry.shared ? words.unshare : words.share} onClick={() => change('share_repository', entry.address)}>
                  {entry.shared ? <UsersRound size={14} /> : <UserRoundPlus size={14} />}
                </button>
              )}
              {!entry.own && <span className="rp-muted">{words.shared}</span>}
              {entry.own && (asked === entry.address
                ? <button className="rp-button" onClick={() => change('delete_repository', entry.address)}>{words.confirm}</button>
                : <button className="rp-icon-button" aria-label={words.delete} title={words.delete} onClick={() => setAsked(entry.address)}><Trash2 size={14} /></button>)}
            </li>
          ))}
        </ul>
      )}
      {props.recent.length > 1 && (
        <div className="rp-row rp-tight rp-muted">
          {words.all} <button className="rp-link rp-place" onClick={() => sendUserMessage('--all', 'search')}>{words.all_command}</button>
        </div>
      )}
      {props.recent.length > 0 && <div className="rp-muted rp-note">{props.disk}</div>}
      {failed && <div className="rp-error">{failed}</div>}
      <div className="rp-row">
        {props.examples.length > 0 && <span className="rp-muted">{words.examples}</span>}
        {props.examples.map(([label, address]) => (
          <button key={address} id={`starter-${label.toLowerCase().replaceAll(' ', '-')}`} className="rp-button rp-round" title={address} onClick={() => sendUserMessage(address, 'open')}>
            {label}
          </button>
        ))}
      </div>
      <div className="rp-status" data-state={props.model.state}>
        {props.model.state === 'busy' ? <Loader2 size={14} className="rp-spin" /> : <span className="rp-dot" />}
        <span>{props.model.text}</span>
      </div>
      {props.model.offer && (
        <div className="rp-row rp-muted rp-offer">
          <span className="rp-grow">{props.model.offer.text}</span>
          <button className="rp-button" onClick={() => callAction({ name: 'get_model', payload: { name: props.model.offer.name } })}>
            {props.model.offer.label}
          </button>
        </div>
      )}
      {props.hosted && <HostedForm hosted={props.hosted} words={words} callAction={callAction} />}
      {props.model.notes.map((note) => <div key={note} className="rp-muted rp-note">{note}</div>)}
    </section>
  );
});

export default <Welcome props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
